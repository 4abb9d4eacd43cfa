/** Prints one turn while it runs, and keeps the state of its questions and tool calls. */
import { keyOf } from '@interlude-ai/client/turn-view.ts';
import type { Part, TextPart, ToolCallPart, TurnView, ViewStatus } from '@interlude-ai/client/turn-view.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { isWaitingFor } from '@interlude-ai/core/elicitation/elicitation.ts';
import { settledLine, supersededLine } from './question-card.ts';
import type { Screen } from './screen.ts';
import { dim, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { cutOff, doing, toolEnded, trouble } from './wording.ts';
import type { ToolEnd } from './wording.ts';

/** Shorter tool calls get no duration; replayed calls are. */
const shortestMs = 50;

export class TurnPrinter {
  readonly #screen: Screen;
  readonly #now: () => number;
  #printed: TurnView | undefined;
  #isSuperseded = false;
  readonly #questions = new Map<string, ElicitationRequest>();
  readonly #answered = new Set<string>();
  /** When each running call began: call id → time by `now`. */
  readonly #running = new Map<string, number>();

  constructor(screen: Screen, now: () => number = Date.now) {
    this.#screen = screen;
    this.#now = now;
  }

  print(view: TurnView): void {
    for (const change of changesBetween(this.#printed, view)) this.#say(change);
    this.#printed = view;
  }

  /** The oldest open question. */
  pendingQuestion(): ElicitationRequest | undefined {
    return [...this.#questions.values()].find(({ status }) => status === 'pending');
  }

  /** True while an answer is being sent; false when it was refused and the question is open again. */
  setAnswered(elicitationId: string, isAnswered: boolean): void {
    if (isAnswered) this.#answered.add(elicitationId);
    else this.#answered.delete(elicitationId);
  }

  isAnswered(elicitationId: string): boolean {
    return this.#answered.has(elicitationId);
  }

  /** True while a new message is being sent that supersedes the turn; false when it was refused. */
  setSuperseded(isSuperseded: boolean): void {
    this.#isSuperseded = isSuperseded;
  }

  /** What the turn is doing now. */
  doing(): string {
    return doing(this.#printed);
  }

  #say(change: ViewChange): void {
    const screen = this.#screen;
    switch (change.kind) {
      case 'text':
        return screen.text(change.text);
      case 'text-ended':
        return screen.endText();
      case 'text-taken-back':
        return screen.takeBack(change.text) ? undefined : screen.line(cutOff);
      case 'tool-started':
        this.#running.set(change.call.id, this.#now());
        return;
      case 'tool-ended':
        return screen.line(toolEnded(change.call.toolName, this.#endCall(change.call)));
      case 'question-opened':
        this.#questions.set(change.question.elicitationId, change.question);
        return;
      case 'question-settled':
        return this.#saySettled(change.question);
      case 'notice':
        return screen.line(dim(`  ${plain(change.text)}`));
      case 'turn-ended':
        return this.#sayEnd(change);
      default:
        return change satisfies never;
    }
  }

  /** A call that ended because its question was not accepted did not fail. Its end may arrive before the question's. */
  #endCall({ id, toolName, state }: ToolCallPart): ToolEnd {
    const tookMs = this.#now() - (this.#running.get(id) ?? this.#now());
    this.#running.delete(id);
    if (state.kind !== 'failed') return { kind: 'done', ...(tookMs >= shortestMs && { tookMs }) };
    const call = { toolCallId: id, toolName };
    const question = [...this.#questions.values()].findLast(({ context }) => isWaitingFor(context, call));
    if (!question || question.status === 'accept') return { kind: 'failed' };
    const isConnection = question.context.trigger === 'credential_required';
    return { kind: isConnection ? 'not-connected' : 'not-answered' };
  }

  #saySettled(question: ElicitationRequest): void {
    this.#questions.set(question.elicitationId, question);
    // Waiting for people does not count as time of a tool.
    for (const id of this.#running.keys()) this.#running.set(id, this.#now());
    const isDropped = this.#isSuperseded && question.status === 'cancel';
    this.#screen.line(
      isDropped ? supersededLine(question) : settledLine(question, this.isAnswered(question.elicitationId)),
    );
  }

  #sayEnd({ status, errorText }: Extract<ViewChange, { kind: 'turn-ended' }>): void {
    const screen = this.#screen;
    screen.endText();
    switch (status) {
      case 'completed':
        return;
      case 'failed':
        return screen.line(trouble(plain(errorText ?? 'The turn failed.')));
      case 'cancelled':
        return this.#isSuperseded ? undefined : screen.line(dim('  Stopped.'));
      case 'unseen':
        return screen.line(
          dim('  The turn ended while the connection was lost; its last words were missed.'),
        );
      default:
        return status satisfies never;
    }
  }
}

type ViewChange =
  | { kind: 'text'; text: string }
  | { kind: 'text-ended' }
  /** Printed text that is void. */
  | { kind: 'text-taken-back'; text: string }
  | { kind: 'tool-started' | 'tool-ended'; call: ToolCallPart }
  | { kind: 'question-opened' | 'question-settled'; question: ElicitationRequest }
  | { kind: 'notice'; text: string }
  | { kind: 'turn-ended'; status: Exclude<ViewStatus, 'running'>; errorText: string | undefined };

/** The changes from one view of a turn to the next, in the order in which to print them. */
function changesBetween(before: TurnView | undefined, after: TurnView): ViewChange[] {
  const known = new Map(before?.parts.map((part) => [keyOf(part), part]));
  const kept = new Set(after.parts.map(keyOf));
  const gone = before?.parts.filter((part) => part.kind === 'text' && !kept.has(keyOf(part))) ?? [];
  const takenBack = gone.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const changes: ViewChange[] = takenBack === '' ? [] : [{ kind: 'text-taken-back', text: takenBack }];
  for (const part of after.parts) {
    const earlier = known.get(keyOf(part));
    if (part !== earlier) changes.push(...changesOfPart(earlier, part));
  }
  if (after.status !== 'running') {
    changes.push({ kind: 'turn-ended', status: after.status, errorText: after.errorText });
  }
  return changes;
}

function changesOfPart(known: Part | undefined, part: Part): ViewChange[] {
  switch (part.kind) {
    case 'text':
      return changesOfText(known?.kind === 'text' ? known : undefined, part);
    case 'reasoning':
      return [];
    case 'tool-call': {
      const started: ViewChange[] = known ? [] : [{ kind: 'tool-started', call: part }];
      return part.state.kind === 'running' ? started : [...started, { kind: 'tool-ended', call: part }];
    }
    case 'elicitation': {
      const { elicitation: question } = part;
      return [{ kind: question.status === 'pending' ? 'question-opened' : 'question-settled', question }];
    }
    case 'tool-auth-required':
      return [{ kind: 'notice', text: part.notice.message }];
    default:
      return part satisfies never;
  }
}

function changesOfText(known: TextPart | undefined, part: TextPart): ViewChange[] {
  const text = part.text.slice(known?.text.length ?? 0);
  const changes: ViewChange[] = text === '' ? [] : [{ kind: 'text', text }];
  return part.done && !known?.done ? [...changes, { kind: 'text-ended' }] : changes;
}
