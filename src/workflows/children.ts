/**
 * The child workflows of this agent: delegated agents, and tools in TypeScript. Each is awaited like a tool call, and
 * reports by signal whether it works or only waits for a person.
 *
 * A child is known before it is started: the first signal from it may arrive together with the news that it runs.
 */
import { CancellationScope, ChildWorkflowFailure, setHandler } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ChildWorkflowHandle, SignalDefinition, Workflow } from '@temporalio/workflow';
import type { TurnEndStatus } from '../turn/turn.ts';
import { accountVerdict, delegatePhase, supersede } from './messages.ts';
import type { AccountVerdict, DelegatePhase } from './messages.ts';
import { readDelegatePhase } from './read-signal.ts';

export interface ChildrenListener {
  /** A child has reported its phase. */
  onPhase(): void;
  /** A child has ended by itself because of a new message, as those of earlier releases do. */
  onSuperseded(): void;
}

export interface NewChild {
  kind: 'agent' | 'tool';
  /** The call that it is. */
  toolCallId: string;
  /** Of the agent, or of the tool. */
  name: string;
}

interface Child extends NewChild {
  phase: DelegatePhase['phase'];
  /** As in `DelegatePhase`. */
  agreesTo: number | null;
  refuses: number | null;
  /** Null until it has started. */
  handle: ChildWorkflowHandle<Workflow> | null;
  /** Signals that are to be sent when it has started, and has the one before. */
  unsent: Message[];
  isSending: boolean;
}

/** A signal and its argument. */
type Message = [signal: SignalDefinition<[unknown]>, argument: unknown];

interface RunOptions<T> {
  start(): Promise<ChildWorkflowHandle<Workflow>>;
  /** Waits for its end. By default as long as it takes. */
  follow?(result: Promise<T>): Promise<T>;
}

export class Children {
  readonly #running = new Map<string, Child>();
  #listener: ChildrenListener | undefined;

  constructor() {
    setHandler(delegatePhase, (message: unknown) => this.#onPhase(message));
  }

  /** Sets the one listener. To be called once. */
  listen(listener: ChildrenListener): void {
    this.#listener = listener;
  }

  /** Starts a child; resolves to what it returns, or to null when it was ended from outside. */
  async run<T>(child: NewChild, options: RunOptions<T>): Promise<T | null> {
    try {
      return await this.#runRegistered(child, options);
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      // Ended from outside, by an operator.
      if (error instanceof ChildWorkflowFailure || error instanceof WorkflowExecutionAlreadyStartedError)
        return null;
      throw error;
    }
  }

  /** To be called when a child has ended and what it returned has been taken over. */
  ended({ status }: { status: TurnEndStatus | 'finished' }): void {
    if (status === 'superseded') this.#listener?.onSuperseded();
  }

  /** Whether this call is a delegated agent that has not ended. */
  isAgent(toolCallId: string): boolean {
    return this.#running.get(toolCallId)?.kind === 'agent';
  }

  /** The names of those that only wait for a person. */
  waiting(): string[] {
    return [...this.#running.values()].flatMap(({ name, phase }) => (phase === 'waiting' ? [name] : []));
  }

  /** Tells the agent that is this call what became of the account that it wants; nothing if it has ended. */
  tell(toolCallId: string, verdict: AccountVerdict): void {
    const child = this.#running.get(toolCallId);
    if (child) send(child, [accountVerdict, verdict]);
  }

  /** Asks each whether it may end for a new message. */
  supersede(until: number): void {
    for (const child of this.#running.values()) send(child, [supersede, { until }]);
  }

  /** The turn goes on, after all. */
  withdraw(until: number): void {
    for (const child of this.#running.values()) send(child, [supersede, { until: 0, withdrawn: until }]);
  }

  /** Whether each has agreed to end for the new message that `supersede` was called with. */
  allAgreeTo(until: number): boolean {
    return [...this.#running.values()].every(({ agreesTo }) => agreesTo === until);
  }

  /** Whether one may not. */
  isRefused(until: number): boolean {
    return [...this.#running.values()].some(({ refuses }) => refuses === until);
  }

  async #runRegistered<T>(child: NewChild, { start, follow = asItIs }: RunOptions<T>): Promise<T> {
    const { toolCallId } = child;
    const running: Child = {
      ...child,
      phase: 'working',
      agreesTo: null,
      refuses: null,
      handle: null,
      unsent: [],
      isSending: false,
    };
    this.#running.set(toolCallId, running);
    try {
      const handle = await start();
      running.handle = handle;
      sendNext(running);
      return await follow(handle.result() as Promise<T>);
    } finally {
      this.#running.delete(toolCallId);
    }
  }

  #onPhase(message: unknown): void {
    const report = readDelegatePhase(message);
    const child = report && this.#running.get(report.toolCallId);
    if (!child) return;
    child.phase = report.phase;
    child.agreesTo = report.agreesTo ?? null;
    child.refuses = report.refuses ?? null;
    this.#listener?.onPhase();
  }
}

function send(child: Child, message: Message): void {
  child.unsent.push(message);
  sendNext(child);
}

/** One after the other: signals that are sent at once may arrive in any order. One to a child that has ended does not matter. */
function sendNext(child: Child): void {
  if (!child.handle || child.isSending) return;
  const message = child.unsent.shift();
  if (!message) return;
  child.isSending = true;
  void child.handle
    .signal(...message)
    .catch(() => undefined)
    .then(() => {
      child.isSending = false;
      sendNext(child);
    });
}

function asItIs<T>(result: Promise<T>): Promise<T> {
  return result;
}
