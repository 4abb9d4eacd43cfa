/**
 * The phase of an agent: working, waiting for nothing but people, or ending because a new message supersedes it. It
 * answers the `turn` query, handles the `supersede` signal, and reports changes to operators and to the parent agent.
 */
import { CancelledFailure, setHandler } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { Delegates } from './delegates.ts';
import { supersede, turnQuery } from './messages.ts';
import type { TurnInput, TurnReport } from './messages.ts';
import { showPhase } from './operator-view.ts';
import { readSupersede } from './read-signal.ts';
import { createReportToParent } from './report-to-parent.ts';

export interface Phase {
  /** Runs the calls of one step; each counts as running until it is over. */
  whileRunning<T>(calls: T[], run: (call: T) => Promise<void>): Promise<void>[];
  /** Runs `work`, which counts as one more running call. */
  whileWorking<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `ask`; meanwhile the call counts as asking. The agent is `waiting` when all of its running calls are asking. */
  whileAsking<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  /** Whether all of its running calls are asking. */
  isWaiting(): boolean;
  /** Whether a new message has ended it. */
  isSuperseded(): boolean;
  /** To be called when the end is in the database. */
  ended(): void;
}

interface Parts {
  /** Cancelled when the agent is to stop. */
  scope: CancellationScope;
  delegates: Pick<Delegates, 'waiting' | 'supersede' | 'listen'>;
  /** The call of the parent agent that this is; absent for the root agent. */
  reportAs: string | undefined;
  /** The open questions. */
  pending(): Elicitation[];
  /** As in `Elicitations`. */
  areAllPending(): boolean;
}

export function createPhase(
  turn: TurnInput,
  { scope, delegates, reportAs, pending, areAllPending }: Parts,
): Phase {
  const report = createReportToParent(reportAs);
  /** Calls that wait for a person, and how many questions each has open. */
  const asking = new Map<string, number>();
  let running = 0;
  let status: 'working' | 'waiting' | 'ended' = 'working';
  /** `requested`: delegated agents were signalled to end; those that are working ignore it. */
  let superseding: 'no' | 'requested' | 'yes' = 'no';

  setHandler(turnQuery, (): TurnReport => ({ turnId: turn.turnId, phase: reported() }));
  setHandler(supersede, (message: unknown) => {
    const { until } = readSupersede(message) ?? { until: 0 };
    // An answer that has arrived, though the turn has not gone on yet, takes precedence over a new message.
    if (status !== 'waiting' || !areAllPending() || Date.now() > until) return;
    // Only the delegate itself knows whether it has just been given an answer.
    if (delegates.supersede(until)) superseding = 'requested';
    else endSuperseded();
  });
  delegates.listen({ onPhase: update, onSuperseded: endSuperseded });

  function endSuperseded(): void {
    superseding = 'yes';
    scope.cancel();
  }

  function reported(): TurnReport['phase'] {
    if (status === 'ended') return 'ended';
    return superseding === 'no' ? status : 'ending';
  }

  function isWaiting(): boolean {
    return running > 0 && asking.size + delegates.waiting().length === running;
  }

  function update(): void {
    const next = isWaiting() ? 'waiting' : 'working';
    if (next === status || status === 'ended') return;
    status = next;
    // It is stopping: the next thing to report is its end.
    if (scope.consideredCancelled) return;
    if (next === 'working' && superseding === 'requested') superseding = 'no';
    void report?.(next);
    showPhase(next, pending(), delegates.waiting());
  }

  return {
    whileRunning(calls, run) {
      running = calls.length;
      return calls.map((call) =>
        run(call).finally(() => {
          running--;
          update();
        }),
      );
    },
    async whileWorking(work) {
      running++;
      update();
      try {
        return await work();
      } finally {
        running--;
        update();
      }
    },
    async whileAsking(toolCallId, ask) {
      asking.set(toolCallId, (asking.get(toolCallId) ?? 0) + 1);
      try {
        // The parent has to know before the user sees the question, who could send a new message instead of answering.
        if (report && isWaiting()) await report('waiting');
        if (scope.consideredCancelled) throw new CancelledFailure('The turn ends, so nobody is asked.');
        const answer = ask();
        update();
        return await answer;
      } finally {
        const left = (asking.get(toolCallId) ?? 1) - 1;
        if (left > 0) asking.set(toolCallId, left);
        else asking.delete(toolCallId);
        update();
      }
    },
    isWaiting,
    isSuperseded: () => superseding === 'yes',
    ended: () => {
      status = 'ended';
    },
  };
}
