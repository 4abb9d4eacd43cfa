/** The turns of one session, as the feed reports them: at most one is live. */
import type { StopReason } from '@agentclientprotocol/sdk';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';

export class Turn {
  end: TurnEnd | undefined;
  #finish: string | undefined;
  #error: { code: string; errorText: string } | undefined;

  /** The end of the turn, if this event brings it. */
  read(event: StreamEvent): TurnEnd | null {
    if (this.end) return null;
    if (event.type === 'turn-ended') return (this.end = toEnd(event.status, this.#finish, this.#error));
    if (event.path !== undefined) return null;
    if (event.type === 'finish-step') this.#finish = event.finish;
    if (event.type === 'error') this.#error = event;
    return null;
  }
}

export class Turns {
  readonly #turns = new Map<string, Turn>();
  #next = Promise.withResolvers<void>();

  /** The feed and the response to a message may arrive in either order. */
  named(turnId: string): Turn {
    const known = this.#turns.get(turnId);
    if (known) return known;
    const turn = new Turn();
    this.#turns.set(turnId, turn);
    return turn;
  }

  get live(): Turn | undefined {
    return [...this.#turns.values()].find(({ end }) => end === undefined);
  }

  /** No more events will come. */
  endAll(end: TurnEnd): void {
    for (const turn of this.#turns.values()) turn.end ??= end;
    this.changed();
  }

  forgetEnded(): void {
    for (const [id, { end }] of this.#turns) if (end) this.#turns.delete(id);
  }

  changed(): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve();
  }

  change(): Promise<void> {
    return this.#next.promise;
  }
}

export type TurnEnd =
  | { kind: 'stopped'; stopReason: StopReason; words?: string }
  /** It waits for a person who cannot be asked in a dialog. */
  | { kind: 'waiting' }
  /** ACP has no stop reason for this: the prompt fails. */
  | { kind: 'failed'; message: string };

type Status = Extract<StreamEvent, { type: 'turn-ended' }>['status'];

function toEnd(
  status: Status,
  finish: string | undefined,
  error: { code: string; errorText: string } | undefined,
): TurnEnd {
  switch (status) {
    case 'completed':
      return { kind: 'stopped', stopReason: finishReasons.get(finish ?? '') ?? 'end_turn' };
    case 'failed':
      return error?.code === 'MaxStepsReached'
        ? { kind: 'stopped', stopReason: 'max_turn_requests', words: error.errorText }
        : { kind: 'failed', message: error?.errorText ?? 'The turn failed. Try again.' };
    case 'cancelled':
      return { kind: 'stopped', stopReason: 'cancelled' };
    case 'superseded':
      return {
        kind: 'stopped',
        stopReason: 'cancelled',
        words: 'A newer message in this conversation has taken the place of this one.',
      };
    default:
      return status satisfies never;
  }
}

const finishReasons = new Map<string, StopReason>([
  ['length', 'max_tokens'],
  ['refused', 'refusal'],
]);
