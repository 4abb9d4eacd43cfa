/** Merges ended turns while nobody waits for it: one at a time, so that a burst of ends leaves the database to others. */
import type { Logger } from 'pino';
import { aboutTurn } from '../../telemetry/events.ts';
import type { TurnRef } from '../../turn/turn.ts';

export interface MergeQueue {
  add(turn: TurnRef): void;
  /** Resolves when everything that was added is merged, or has failed to be. */
  settled(): Promise<void>;
}

export function createMergeQueue(merge: (turn: TurnRef) => Promise<void>, logger: Logger): MergeQueue {
  let merging = Promise.resolve();
  return {
    add(turn) {
      merging = merging
        .then(() => merge(turn))
        .catch((error: unknown) =>
          logger.warn({ ...aboutTurn(turn), err: error }, 'a turn is not merged yet'),
        );
    },
    settled: () => merging,
  };
}
