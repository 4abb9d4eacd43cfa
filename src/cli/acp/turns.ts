/** The turns of one session, as far as the feed has told them: at most one is live. Whoever waits is woken by changes. */
import type { StreamEvent } from '../../contract/stream-event.ts';
import { createEndListener } from './updates/stop-reason.ts';
import type { EndListener, TurnEnd } from './updates/stop-reason.ts';

export interface Turn {
  listener: EndListener;
  /** Once it is over. */
  end: TurnEnd | undefined;
}

export class Turns {
  readonly #turns = new Map<string, Turn>();
  #next = Promise.withResolvers<void>();

  /** The feed and the answer to a message name a turn in any order. */
  named(turnId: string): Turn {
    const known = this.#turns.get(turnId);
    if (known) return known;
    const turn: Turn = { listener: createEndListener(), end: undefined };
    this.#turns.set(turnId, turn);
    return turn;
  }

  get live(): Turn | undefined {
    return [...this.#turns.values()].find(({ end }) => end === undefined);
  }

  /** The end of its turn, where the event brings that. */
  hear(event: StreamEvent): TurnEnd | null {
    const turn = this.named(event.turnId);
    const end = turn.end ? null : turn.listener.hear(event);
    if (end) turn.end = end;
    return end;
  }

  /** Nothing will be heard of them any more. */
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

  /** Resolves with the next change. */
  change(): Promise<void> {
    return this.#next.promise;
  }
}
