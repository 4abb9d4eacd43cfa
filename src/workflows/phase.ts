/**
 * The phase of an agent: working, waiting for nothing but people, or ending because a new message supersedes it. It
 * answers the `turn` query, hands the `supersede` signal on, and reports changes to operators and to the parent agent.
 */
import { CancelledFailure, setHandler } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { Children } from './children.ts';
import type { HeldAnswers } from './held-answers.ts';
import { supersede, turnQuery } from './messages.ts';
import type { TurnInput, TurnReport } from './messages.ts';
import { showPhase } from './operator-view.ts';
import { createReportToParent } from './report-to-parent.ts';
import type { ReportToParent } from './report-to-parent.ts';
import { Superseding } from './superseding.ts';

interface Parts {
  /** Cancelled when the agent is to stop. */
  scope: CancellationScope;
  children: Pick<Children, 'waiting' | 'supersede' | 'withdraw' | 'allAgreeTo' | 'isRefused' | 'listen'>;
  heldAnswers: HeldAnswers;
  /** The call of the parent agent that this is; absent for the root agent. */
  reportAs: string | undefined;
  /** The open questions. */
  pending(): Elicitation[];
  /** As in `Elicitations`. */
  areAllPending(): boolean;
}

export class Phase {
  readonly #turn: TurnInput;
  readonly #parts: Parts;
  readonly #reportToParent: ReportToParent | null;
  /** Calls that wait for a person, and how many questions each has open. */
  readonly #asking = new Map<string, number>();
  #running = 0;
  #status: 'working' | 'waiting' | 'ended' = 'working';
  readonly #superseding: Superseding;

  constructor(turn: TurnInput, parts: Parts) {
    this.#turn = turn;
    this.#parts = parts;
    const report = createReportToParent(parts.reportAs);
    this.#reportToParent = report;
    this.#superseding = new Superseding({
      children: parts.children,
      heldAnswers: parts.heldAnswers,
      isWaiting: () => this.#status === 'waiting',
      areAllPending: parts.areAllPending,
      reply:
        turn.supersededByParent && report
          ? (until, mayEnd) => void report('waiting', mayEnd ? { agreesTo: until } : { refuses: until })
          : null,
      end: () => parts.scope.cancel(),
    });
    setHandler(turnQuery, () => this.#report());
    setHandler(supersede, (message: unknown) => this.#superseding.request(message));
    parts.children.listen({
      onPhase: () => {
        this.#update();
        this.#superseding.onReply();
      },
      onSuperseded: () => this.#superseding.end(),
    });
  }

  /** Runs the calls of one step; each counts as running until it is over. */
  whileRunning<T>(calls: T[], run: (call: T) => Promise<void>): Promise<void>[] {
    this.#running = calls.length;
    return calls.map((call) => run(call).finally(() => this.#endCall()));
  }

  /** Runs `work`, which counts as one more running call. */
  async whileWorking<T>(work: () => Promise<T>): Promise<T> {
    this.#running++;
    this.#update();
    try {
      return await work();
    } finally {
      this.#endCall();
    }
  }

  /** Runs `ask`; meanwhile the call counts as asking. The agent is `waiting` when all of its running calls are asking. */
  async whileAsking<T>(toolCallId: string, ask: () => Promise<T>): Promise<T> {
    this.#asking.set(toolCallId, (this.#asking.get(toolCallId) ?? 0) + 1);
    try {
      // The parent has to know before the user sees the question, who could send a new message instead of answering.
      if (this.#reportToParent && this.isWaiting()) await this.#reportToParent('waiting');
      if (this.#parts.scope.consideredCancelled)
        throw new CancelledFailure('The turn ends, so nobody is asked.');
      const answer = ask();
      this.#update();
      return await answer;
    } finally {
      this.#endQuestion(toolCallId);
    }
  }

  /** Whether all of its running calls are asking. */
  isWaiting(): boolean {
    const waiting = this.#asking.size + this.#parts.children.waiting().length;
    return this.#running > 0 && waiting === this.#running;
  }

  /** Of an agent that is being cancelled: whether a new message is why. */
  isSuperseded(): boolean {
    return this.#superseding.isReason();
  }

  /** To be called when the end is in the database. */
  ended(): void {
    this.#status = 'ended';
  }

  /** Shows operators what is asked, when that has become known later than that the agent waits. */
  showQuestions(): void {
    const { scope, children, pending } = this.#parts;
    if (this.#status !== 'waiting' || scope.consideredCancelled) return;
    showPhase('waiting', pending(), children.waiting());
  }

  #report(): TurnReport {
    const isEnding = this.#superseding.isUnderWay() || this.#parts.scope.consideredCancelled;
    const phase = isEnding && this.#status !== 'ended' ? 'ending' : this.#status;
    return { turnId: this.#turn.turnId, phase };
  }

  #endCall(): void {
    this.#running--;
    this.#update();
  }

  #endQuestion(toolCallId: string): void {
    const left = (this.#asking.get(toolCallId) ?? 1) - 1;
    if (left > 0) this.#asking.set(toolCallId, left);
    else this.#asking.delete(toolCallId);
    this.#update();
  }

  #update(): void {
    const { scope, children, pending } = this.#parts;
    const next = this.isWaiting() ? 'waiting' : 'working';
    if (next === this.#status || this.#status === 'ended') return;
    this.#status = next;
    // It is stopping: the next thing to report is its end.
    if (scope.consideredCancelled) return;
    if (next === 'working') this.#superseding.giveUp();
    void this.#reportToParent?.(next);
    showPhase(next, pending(), children.waiting());
  }
}
