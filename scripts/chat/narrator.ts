/** Tells one turn on the screen, and remembers what is going on in it. */
import type { TurnView } from '../../src/client/turn-view.ts';
import type { ElicitationEvent } from '../../src/elicitation/elicitation.ts';
import { newsBetween } from './news.ts';
import type { News } from './news.ts';
import type { Screen } from './screen.ts';
import { dim, plain, questionCard, settledLine, toolEnded, trouble } from './wording.ts';

export interface Narrator {
  tell(view: TurnView): void;
  /** The question to answer next: the one that has waited longest. */
  openQuestion(): ElicitationEvent | undefined;
  /** Its answer is on its way, or was refused and is open again. */
  setAnswered(elicitationId: string, isAnswered: boolean): void;
  /** The tool that runs now. */
  runningTool(): string | undefined;
}

/** What took less was replayed, or is not worth a number. */
const shortestMs = 50;

interface Run {
  toolName: string;
  since: number;
}

export function createNarrator(screen: Screen, now: () => number = Date.now): Narrator {
  let told: TurnView | undefined;
  const questions = new Map<string, ElicitationEvent>();
  const answered = new Set<string>();
  const running = new Map<string, Run>();

  function say(news: News): void {
    switch (news.kind) {
      case 'text':
        return screen.text(news.text);
      case 'text-ended':
        return screen.endText();
      case 'tool-started':
        running.set(news.call.id, { toolName: news.call.toolName, since: now() });
        return;
      case 'tool-ended': {
        const run = running.get(news.call.id);
        running.delete(news.call.id);
        const tookMs = run ? now() - run.since : 0;
        return screen.line(toolEnded(news.call, tookMs < shortestMs ? undefined : tookMs));
      }
      case 'question-opened':
        questions.set(news.question.elicitationId, news.question);
        screen.gap();
        for (const line of questionCard(news.question)) screen.line(line);
        return screen.gap();
      case 'question-settled':
        questions.delete(news.question.elicitationId);
        // The time people take is not the tools'.
        for (const run of running.values()) run.since = now();
        return screen.line(settledLine(news.question));
      case 'turn-ended':
        return sayEnd(news);
      default:
        return news satisfies never;
    }
  }

  function sayEnd({ status, errorText }: Extract<News, { kind: 'turn-ended' }>): void {
    screen.endText();
    switch (status) {
      case 'completed':
        return;
      case 'failed':
        return screen.line(trouble(plain(errorText ?? 'The turn failed.')));
      case 'cancelled':
        return screen.line(dim('  Stopped.'));
      case 'unseen':
        return screen.line(
          dim('  The turn ended while the connection was lost; its last words were missed.'),
        );
      default:
        return status satisfies never;
    }
  }

  return {
    tell(view) {
      for (const news of newsBetween(told, view)) say(news);
      told = view;
    },
    openQuestion: () => [...questions.values()].find(({ elicitationId }) => !answered.has(elicitationId)),
    setAnswered(elicitationId, isAnswered) {
      if (isAnswered) answered.add(elicitationId);
      else answered.delete(elicitationId);
    },
    runningTool: () => [...running.values()].at(0)?.toolName,
  };
}
