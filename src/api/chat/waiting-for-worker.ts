/**
 * A turn that nobody has taken up yet: no worker runs, or none of the version that new turns go to. It is a state of the
 * moment and no part of what the turn does, so that it is told to whoever listens and stands in no log.
 */
import type { LogEntry } from '../../turn/event.ts';
import type { WaitingTurn } from '../../service/follow-turn.ts';

export type WorkerWait = 'waiting' | 'over';

export type TurnOutput =
  | { kind: 'entries'; entries: LogEntry[] }
  | { kind: 'worker'; agent: string; status: WorkerWait };

/** What the turn says, and before its first word that it waits for a worker, should `read` find that out. */
export async function* withWorkerWait(
  read: (onWaiting: (turn: WaitingTurn) => void) => AsyncIterable<LogEntry[]>,
): AsyncGenerator<TurnOutput> {
  const { promise: waiting, resolve } = Promise.withResolvers<WaitingTurn>();
  const batches = read(resolve)[Symbol.asyncIterator]();
  try {
    const next = batches.next();
    const turn = await Promise.race([waiting, next.then(() => null)]);
    if (turn) yield { kind: 'worker', agent: turn.agent, status: 'waiting' };
    const first = await next;
    if (first.done) return;
    const isTaken = first.value.some(({ event }) => event.type === 'turn-started');
    if (turn && isTaken) yield { kind: 'worker', agent: turn.agent, status: 'over' };
    yield { kind: 'entries', entries: first.value };
    for (let rest = await batches.next(); !rest.done; rest = await batches.next())
      yield { kind: 'entries', entries: rest.value };
  } finally {
    await batches.return?.();
  }
}
