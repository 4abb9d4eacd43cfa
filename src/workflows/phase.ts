/**
 * What an agent is at: working, waiting for nothing but people, or about to leave. Whoever asks is told, and so are
 * operators and the agent that this one works for.
 */
import { CancelledFailure, setHandler } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import { callerOf } from './parent-agent.ts';
import type { Delegates } from './delegates.ts';
import type { Questions } from './elicit.ts';
import { supersede, turnQuery } from './messages.ts';
import type { TurnInput, TurnReport } from './messages.ts';
import { showPhase } from './operator-view.ts';
import { readSupersede } from './read-signal.ts';

export interface Phase {
  /** Runs the calls of one step, each counted until it is over. */
  during<T>(calls: T[], run: (call: T) => Promise<void>): Promise<void>[];
  /** CallPaused, and lets operators see that the turn is waiting for a person once nothing else is going on. */
  whileWaiting<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  /** Something has changed that it depends on. */
  changed(): void;
  /** Makes room for a new message. */
  leave(): void;
  hasLeft(): boolean;
  /** The end is on record. */
  ended(): void;
}

interface Surroundings {
  questions: Questions;
  delegates: () => Delegates;
  thinking: CancellationScope;
}

export function createPhase(turn: TurnInput, { questions, delegates, thinking }: Surroundings): Phase {
  const caller = callerOf(turn);
  /** Calls that wait for a person, and how many questions each has open. */
  const waiting = new Map<string, number>();
  let running = 0;
  let status: 'working' | 'waiting' | 'ended' = 'working';
  let leaving: 'no' | 'perhaps' | 'yes' = 'no';

  setHandler(turnQuery, (): TurnReport => ({ turnId: turn.turnId, phase: reported() }));
  setHandler(supersede, (message: unknown) => {
    const { until } = readSupersede(message) ?? { until: 0 };
    // An answer that has just come, though nothing has been made of it yet, counts more than a new message.
    if (status !== 'waiting' || !questions.areAllOpen() || Date.now() > until) return;
    // Of an answer that a delegated agent has just been given, only that agent knows.
    if (delegates().supersede(until)) leaving = 'perhaps';
    else leave();
  });

  function leave(): void {
    leaving = 'yes';
    thinking.cancel();
  }

  function reported(): TurnReport['phase'] {
    if (status === 'ended') return 'ended';
    return leaving === 'no' ? status : 'ending';
  }

  function isWaiting(): boolean {
    return running > 0 && waiting.size + delegates().waiting().length === running;
  }

  function changed(): void {
    const next = isWaiting() ? 'waiting' : 'working';
    if (next === status || status === 'ended') return;
    status = next;
    // Its end is what is to be told of it next.
    if (thinking.consideredCancelled) return;
    // Whoever was asked to make room has refused: it has work to do.
    if (next === 'working' && leaving === 'perhaps') leaving = 'no';
    void caller?.tell(next);
    showPhase(next, questions.open(), delegates().waiting());
  }

  return {
    during(calls, run) {
      running = calls.length;
      return calls.map((call) =>
        run(call).finally(() => {
          running--;
          changed();
        }),
      );
    },
    async whileWaiting(toolCallId, ask) {
      waiting.set(toolCallId, (waiting.get(toolCallId) ?? 0) + 1);
      try {
        // Before the user sees the question, and could send a new message instead of answering it.
        if (caller && isWaiting()) await caller.tell('waiting');
        if (thinking.consideredCancelled) throw new CancelledFailure('The turn ends, so nobody is asked.');
        const answer = ask();
        changed();
        return await answer;
      } finally {
        const left = (waiting.get(toolCallId) ?? 1) - 1;
        if (left > 0) waiting.set(toolCallId, left);
        else waiting.delete(toolCallId);
        changed();
      }
    },
    changed,
    leave,
    hasLeft: () => leaving === 'yes',
    ended: () => {
      status = 'ended';
    },
  };
}
