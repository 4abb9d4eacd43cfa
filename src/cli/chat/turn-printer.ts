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

/** The shortest duration of a tool call that is printed; replayed calls take less. */
const shortestMs = 50;

export class TurnPrinter {
  readonly #screen: Screen;
  readonly #now: () => number;
  #printed: TurnView | undefined;
  #isSuperseded = false;
  readonly #questions = new Map<string, ElicitationRequest>();
  readonly #answered = new Set<string>();
  /** When each running call began, by its id; in milliseconds of `now`. */
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

  /** What the turn does now, as text. */
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

  /** A call that ended because its question was not accepted did not fail. The call's end may arrive before the question's. */
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
    // The time that people take to answer does not count as the tools'.
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
