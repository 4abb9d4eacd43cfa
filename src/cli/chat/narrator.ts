/** Tells one turn on the screen, and remembers what is going on in it. */
import type { ToolCallPart, TurnView } from '../../client/turn-view.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import { isWaitingFor } from '../../elicitation/asker.ts';
import { newsBetween } from './news.ts';
import type { News } from './news.ts';
import { settledLine, supersededLine } from './question-card.ts';
import type { Screen } from './screen.ts';
import { cutOff, dim, doing, plain, toolEnded, trouble } from './wording.ts';
import type { ToolEnd } from './wording.ts';

export interface Narrator {
  tell(view: TurnView): void;
  /** The question that has waited longest. */
  pendingQuestion(): ElicitationRequest | undefined;
  /** Its answer is on its way, or was refused and is open again. */
  setAnswered(elicitationId: string, isAnswered: boolean): void;
  isAnswered(elicitationId: string): boolean;
  /** A new message is about to take the turn's place, or was refused. */
  setSuperseded(isSuperseded: boolean): void;
  /** What the turn does now, in words. */
  doing(): string;
}

/** What took less was replayed, or is not worth a number. */
const shortestMs = 50;

export function createNarrator(screen: Screen, now: () => number = Date.now): Narrator {
  let told: TurnView | undefined;
  let isSuperseded = false;
  const questions = new Map<string, ElicitationRequest>();
  const answered = new Set<string>();
  /** Since when each tool runs. */
  const running = new Map<string, number>();

  function say(news: News): void {
    switch (news.kind) {
      case 'text':
        return screen.text(news.text);
      case 'text-ended':
        return screen.endText();
      case 'text-taken-back':
        return screen.takeBack(news.text) ? undefined : screen.line(cutOff);
      case 'tool-started':
        running.set(news.call.id, now());
        return;
      case 'tool-ended': {
        const tookMs = now() - (running.get(news.call.id) ?? now());
        running.delete(news.call.id);
        return screen.line(toolEnded(news.call.toolName, endOf(news.call, tookMs)));
      }
      case 'question-opened':
        questions.set(news.question.elicitationId, news.question);
        return;
      case 'question-settled':
        questions.set(news.question.elicitationId, news.question);
        // The time people take is not the tools'.
        for (const id of running.keys()) running.set(id, now());
        return screen.line(
          isSuperseded && news.question.status === 'cancel'
            ? supersededLine(news.question)
            : settledLine(news.question, answered.has(news.question.elicitationId)),
        );
      case 'notice':
        return screen.line(dim(`  ${plain(news.text)}`));
      case 'turn-ended':
        return sayEnd(news);
      default:
        return news satisfies never;
    }
  }

  /** A call that its question kept from running has not failed. Whether that is said first, or the call's end, is open. */
  function endOf({ id, toolName, state }: ToolCallPart, tookMs: number): ToolEnd {
    if (state.kind !== 'failed') return { kind: 'done', ...(tookMs >= shortestMs && { tookMs }) };
    const call = { toolCallId: id, toolName };
    const question = [...questions.values()].findLast(({ context }) => isWaitingFor(context, call));
    if (!question || question.status === 'accept') return { kind: 'failed' };
    const isConnection = question.context.trigger === 'credential_required';
    return { kind: isConnection ? 'not-connected' : 'not-answered' };
  }

  function sayEnd({ status, errorText }: Extract<News, { kind: 'turn-ended' }>): void {
    screen.endText();
    switch (status) {
      case 'completed':
        return;
      case 'failed':
        return screen.line(trouble(plain(errorText ?? 'The turn failed.')));
      case 'cancelled':
        return isSuperseded ? undefined : screen.line(dim('  Stopped.'));
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
    pendingQuestion: () => [...questions.values()].find(({ status }) => status === 'pending'),
    setAnswered(elicitationId, isAnswered) {
      if (isAnswered) answered.add(elicitationId);
      else answered.delete(elicitationId);
    },
    isAnswered: (elicitationId) => answered.has(elicitationId),
    setSuperseded: (value) => void (isSuperseded = value),
    doing: () => doing(told),
  };
}
