/**
 * What an agent is at: working, waiting for nothing but people, or making room for a new message. Whoever asks is told,
 * and so are operators and the agent that this one works for.
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
  /** Runs the calls of one step, each counted until it is over. */
  whileRunning<T>(calls: T[], run: (call: T) => Promise<void>): Promise<void>[];
  /** Asks, and reports that the agent only waits for people once nothing else is going on. */
  whileAsking<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  /** Whether it was stopped to make room for a new message. */
  isSuperseded(): boolean;
  /** The end is on record. */
  ended(): void;
}

interface Parts {
  /** Cancelled when the agent is to stop. */
  thinking: CancellationScope;
  delegates: Delegates;
  /** What somebody is being asked right now. */
  pending(): Elicitation[];
  /** Whether everything that is waited for is still without an answer. */
  areAllPending(): boolean;
}

export function createPhase(turn: TurnInput, { thinking, delegates, pending, areAllPending }: Parts): Phase {
  const report = createReportToParent(turn);
  /** Calls that wait for a person, and how many questions each has open. */
  const asking = new Map<string, number>();
  let running = 0;
  let status: 'working' | 'waiting' | 'ended' = 'working';
  /** `requested`: delegated agents were asked to end, and one that has work to do will refuse. */
  let superseding: 'no' | 'requested' | 'yes' = 'no';

  setHandler(turnQuery, (): TurnReport => ({ turnId: turn.turnId, phase: reported() }));
  setHandler(supersede, (message: unknown) => {
    const { until } = readSupersede(message) ?? { until: 0 };
    // An answer that has just come, though nothing has been made of it yet, counts more than a new message.
    if (status !== 'waiting' || !areAllPending() || Date.now() > until) return;
    // Of an answer that a delegated agent has just been given, only that agent knows.
    if (delegates.supersede(until)) superseding = 'requested';
    else makeRoom();
  });
  delegates.listen({ onPhase: update, onSuperseded: makeRoom });

  function makeRoom(): void {
    superseding = 'yes';
    thinking.cancel();
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
    // What is to be reported next is its end.
    if (thinking.consideredCancelled) return;
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
    async whileAsking(toolCallId, ask) {
      asking.set(toolCallId, (asking.get(toolCallId) ?? 0) + 1);
      try {
        // Before the user sees the question, and could send a new message instead of answering it.
        if (report && isWaiting()) await report('waiting');
        if (thinking.consideredCancelled) throw new CancelledFailure('The turn ends, so nobody is asked.');
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
    isSuperseded: () => superseding === 'yes',
    ended: () => {
      status = 'ended';
    },
  };
}
