/**
 * Whether a new message ends this agent. It does when the agent and all below it wait for nothing but people, and none
 * of them has been given an answer yet: an answer that came before the message takes precedence.
 *
 * Only an agent itself knows whether it has been given an answer. So a request is passed down, each child agrees or refuses,
 * and nobody ends before the root knows that all agree: it then ends, and cancels its children. An agent that has agreed
 * holds answers until that is decided. It takes its agreement back when one comes, which counts if the root has not ended by
 * then: the request is withdrawn. Agents and tools that an earlier release started end by themselves instead.
 */
import type { Children } from './children.ts';
import type { HeldAnswers } from './held-answers.ts';
import { readSupersede } from './read-signal.ts';

interface Parts {
  children: Pick<Children, 'supersede' | 'withdraw' | 'allAgreeTo' | 'isRefused'>;
  heldAnswers: Pick<HeldAnswers, 'begin' | 'release'>;
  /** Whether it waits for nothing but people. */
  isWaiting(): boolean;
  /** Whether none of its own questions has been answered. */
  areAllPending(): boolean;
  /** Tells the parent whether this agent may end for the message; null where the decision is this agent's own. */
  reply: ((until: number, mayEnd: boolean) => void) | null;
  /** Cancels the agent. */
  end(): void;
}

/** `requested`: children were asked. `agreed`: the parent knows, and cancels this agent if all others agree. */
type State = { kind: 'no' | 'yes' } | { kind: 'requested' | 'agreed'; until: number };

export class Superseding {
  readonly #parts: Parts;
  #state: State = { kind: 'no' };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  request(message: unknown): void {
    const { until, withdrawn } = readSupersede(message) ?? { until: 0 };
    if (withdrawn !== undefined) return this.#withdraw(withdrawn);
    // After `until`, the new message has been refused.
    if (this.#state.kind === 'yes' || Date.now() > until) return;
    const { isWaiting, areAllPending, heldAnswers, children } = this.#parts;
    // Who asks again has not ended for an earlier message, and will not.
    heldAnswers.release();
    // One that works has said so.
    if (!isWaiting()) return;
    if (!areAllPending()) return this.#refuse(until);
    this.#state = { kind: 'requested', until };
    children.supersede(until);
    this.onReply();
  }

  /** To be called when a child may have agreed or refused. */
  onReply(): void {
    if (this.#state.kind !== 'requested') return;
    const { until } = this.#state;
    const { children, isWaiting, areAllPending, reply, heldAnswers } = this.#parts;
    if (children.isRefused(until)) return this.#refuse(until);
    const mayEnd = isWaiting() && areAllPending() && children.allAgreeTo(until);
    if (!mayEnd || Date.now() > until) return;
    heldAnswers.begin(until, () => reply?.(until, false));
    if (!reply) return this.end();
    this.#state = { kind: 'agreed', until };
    reply(until, true);
  }

  end(): void {
    this.#state = { kind: 'yes' };
    this.#parts.end();
  }

  /** The agent works again, so the message is refused. */
  giveUp(): void {
    if (this.#state.kind === 'requested') this.#parts.children.withdraw(this.#state.until);
    if (this.#state.kind !== 'yes') this.#state = { kind: 'no' };
  }

  #refuse(until: number): void {
    this.giveUp();
    this.#parts.reply?.(until, false);
  }

  /** The parent goes on. */
  #withdraw(until: number): void {
    const { children, heldAnswers } = this.#parts;
    if ('until' in this.#state && this.#state.until === until) this.#state = { kind: 'no' };
    children.withdraw(until);
    heldAnswers.release(until);
  }

  /** Whether it may be about to end. */
  isUnderWay(): boolean {
    return this.#state.kind !== 'no';
  }

  /** Of an agent that is being cancelled: whether a new message is why. */
  isReason(): boolean {
    return this.#state.kind === 'agreed' || this.#state.kind === 'yes';
  }
}
