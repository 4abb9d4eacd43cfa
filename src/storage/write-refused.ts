import type { TurnStatus } from '../turn/turn.ts';

/** Why nothing was written. Nobody waits for it: whoever is refused is to stop, without a word and for good. */
type Refusal =
  /** The turn is over; its end was the last that was written to it. */
  | 'turn-ended'
  /** A newer attempt at the same step or tool call has begun, and counts. */
  | 'newer-attempt';

export class WriteRefused extends Error {
  override name = 'WriteRefused';
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(
      reason === 'turn-ended'
        ? 'The turn has ended, and nothing more is written to it.'
        : 'A newer attempt has taken over, and only what it writes counts.',
    );
    this.reason = reason;
  }
}

export function isOver(status: TurnStatus): boolean {
  return status !== 'starting' && status !== 'running';
}
