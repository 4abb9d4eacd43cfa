/** Prints one turn on the screen while it runs, and keeps the state of its questions and tool calls. */
import type { ToolCallPart, TurnView } from '../../client/turn-view.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import { isWaitingFor } from '../../elicitation/asker.ts';
import { changesBetween } from './view-changes.ts';
import type { ViewChange } from './view-changes.ts';
import { settledLine, supersededLine } from './question-card.ts';
import type { Screen } from './screen.ts';
import { cutOff, dim, doing, plain, toolEnded, trouble } from './wording.ts';
import type { ToolEnd } from './wording.ts';

export interface TurnPrinter {
  print(view: TurnView): void;
  /** The oldest open question. */
  pendingQuestion(): ElicitationRequest | undefined;
  /** True while an answer is being sent; false when it was refused and the question is open again. */
  setAnswered(elicitationId: string, isAnswered: boolean): void;
  isAnswered(elicitationId: string): boolean;
  /** True while a new message is being sent that supersedes the turn; false when it was refused. */
  setSuperseded(isSuperseded: boolean): void;
  /** What the turn does now, as text. */
  doing(): string;
}

/** The shortest duration of a tool call that is printed; replayed calls take less. */
const shortestMs = 50;

export function createTurnPrinter(screen: Screen, now: () => number = Date.now): TurnPrinter {
  let printed: TurnView | undefined;
  let isSuperseded = false;
  const questions = new Map<string, ElicitationRequest>();
  const answered = new Set<string>();
  /** When each running call began, by its id; in milliseconds of `now`. */
  const running = new Map<string, number>();

  function say(change: ViewChange): void {
    switch (change.kind) {
      case 'text':
        return screen.text(change.text);
      case 'text-ended':
        return screen.endText();
      case 'text-taken-back':
        return screen.takeBack(change.text) ? undefined : screen.line(cutOff);
      case 'tool-started':
        running.set(change.call.id, now());
        return;
      case 'tool-ended': {
        const tookMs = now() - (running.get(change.call.id) ?? now());
        running.delete(change.call.id);
        return screen.line(toolEnded(change.call.toolName, endOf(change.call, tookMs)));
      }
      case 'question-opened':
        questions.set(change.question.elicitationId, change.question);
        return;
      case 'question-settled':
        questions.set(change.question.elicitationId, change.question);
        // The time that people take to answer does not count as the tools'.
        for (const id of running.keys()) running.set(id, now());
        return screen.line(
          isSuperseded && change.question.status === 'cancel'
            ? supersededLine(change.question)
            : settledLine(change.question, answered.has(change.question.elicitationId)),
        );
      case 'notice':
        return screen.line(dim(`  ${plain(change.text)}`));
      case 'turn-ended':
        return sayEnd(change);
      default:
        return change satisfies never;
    }
  }

  /** A call that ended because its question was not accepted did not fail. The call's end may arrive before the question's. */
  function endOf({ id, toolName, state }: ToolCallPart, tookMs: number): ToolEnd {
    if (state.kind !== 'failed') return { kind: 'done', ...(tookMs >= shortestMs && { tookMs }) };
    const call = { toolCallId: id, toolName };
    const question = [...questions.values()].findLast(({ context }) => isWaitingFor(context, call));
    if (!question || question.status === 'accept') return { kind: 'failed' };
    const isConnection = question.context.trigger === 'credential_required';
    return { kind: isConnection ? 'not-connected' : 'not-answered' };
  }

  function sayEnd({ status, errorText }: Extract<ViewChange, { kind: 'turn-ended' }>): void {
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
    print(view) {
      for (const change of changesBetween(printed, view)) say(change);
      printed = view;
    },
    pendingQuestion: () => [...questions.values()].find(({ status }) => status === 'pending'),
    setAnswered(elicitationId, isAnswered) {
      if (isAnswered) answered.add(elicitationId);
      else answered.delete(elicitationId);
    },
    isAnswered: (elicitationId) => answered.has(elicitationId),
    setSuperseded: (value) => void (isSuperseded = value),
    doing: () => doing(printed),
  };
}
