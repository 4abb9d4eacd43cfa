import type { TurnStatus } from '../turn/turn.ts';

/** Why nothing was written. The caller must stop and not retry. */
type Refusal =
  /** The turn has ended; its end was the last write to it. */
  | 'turn-ended'
  /** A newer attempt at the same step or tool call has begun. */
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
