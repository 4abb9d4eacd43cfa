/**
 * Whether a new message ends this agent. It does when the agent and all below it wait for nothing but people, and none
 * of them has been given an answer yet: an answer that came before the message takes precedence.
 *
 * Only an agent itself knows whether it has been given an answer. So a request is passed down, each child says whether
 * it agrees, and nobody ends before the root knows that all do; the root then ends, and cancels its children. Who has agreed
 * holds answers until then: they count if the root withdraws its request. Agents and tools that an earlier release started
 * end by themselves instead.
 */
import type { Children } from './children.ts';
import type { HeldAnswers } from './held-answers.ts';
import { readSupersede } from './read-signal.ts';

interface Parts {
  children: Pick<Children, 'supersede' | 'allAgreeTo' | 'withdraw'>;
  heldAnswers: Pick<HeldAnswers, 'begin' | 'release' | 'isEmpty'>;
  /** Whether it waits for nothing but people, and none of its own questions has been answered. */
  mayEnd(): boolean;
  /** Tells the parent that this agent may end for the message; null where the decision is this agent's own. */
  agree: ((until: number) => void) | null;
  /** Cancels the agent. */
  end(): void;
}

/** `requested`: children were asked. `agreed`: the parent knows, and cancels this agent if all others agree. */
type State =
  | { kind: 'no' }
  | { kind: 'requested'; until: number }
  | { kind: 'agreed'; until: number }
  | { kind: 'yes' };

export class Superseding {
  readonly #parts: Parts;
  #state: State = { kind: 'no' };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  request(message: unknown): void {
    const { until, withdrawn } = readSupersede(message) ?? { until: 0 };
    if (withdrawn !== undefined) return this.#withdraw(withdrawn);
    const { mayEnd, heldAnswers } = this.#parts;
    if (!mayEnd() || !heldAnswers.isEmpty() || Date.now() > until) return;
    this.#state = { kind: 'requested', until };
    this.#parts.children.supersede(until);
    this.onChildAgrees();
  }

  /** To be called when a child may have agreed. */
  onChildAgrees(): void {
    if (this.#state.kind !== 'requested') return;
    const { until } = this.#state;
    const { children, mayEnd, agree, heldAnswers } = this.#parts;
    // After `until`, the new message has been refused.
    if (!mayEnd() || !children.allAgreeTo(until) || Date.now() > until) return;
    if (!agree) return this.end();
    this.#state = { kind: 'agreed', until };
    heldAnswers.begin(until);
    agree(until);
  }

  #withdraw(until: number): void {
    if (this.#state.kind === 'agreed' && this.#state.until === until) this.#state = { kind: 'no' };
    this.#parts.children.withdraw(until);
    this.#parts.heldAnswers.release(until);
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

  /** Whether it may be about to end. */
  isUnderWay(): boolean {
    return this.#state.kind !== 'no';
  }

  /** Of an agent that is being cancelled: whether a new message is why. */
  isReason(): boolean {
    return this.#state.kind === 'agreed' || this.#state.kind === 'yes';
  }
}
