/**
 * Of the agents of a turn that need the same account at the same time, one asks the user: the first. The others wait for
 * the outcome, which counts for all of them.
 *
 * Agents form a tree. Each decides among its own calls and its delegates, and one with a parent first gets the parent's
 * permission. An agent that ends without an outcome returns its permission to its parent, which knows when it has ended.
 */
import { condition, getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AskResult } from '../turn/ask.ts';
import { accountConcluded, accountVerdict, accountWanted } from './messages.ts';
import type { AccountVerdict, TurnInput } from './messages.ts';
import { readAccountConcluded, readAccountVerdict, readAccountWanted } from './read-signal.ts';

/** `ask`: whoever wanted the account is to ask the user, and to conclude. Otherwise what another one's question came to. */
export type Verdict = AccountVerdict['verdict'];

/** Who wants the account: a delegate, by the call that it is, or this agent itself. */
type Wanter = string | typeof own;
const own = Symbol('this agent');

/** The state of one server's account. */
interface Account {
  waiting: Map<Wanter, (verdict: Verdict) => void>;
  /** Who asks. */
  asking: Wanter | null;
  /** Of the parent; a root agent has it always. */
  permission: 'none' | 'requested' | 'given';
}

interface Parts {
  /** By server: what the user has refused. Read and written here. */
  refused: Map<string, AskResult>;
  /** Whether this call is a delegate that has not ended. */
  isDelegate(toolCallId: string): boolean;
  /** Sends a verdict to the delegate that is this call, if it is still there. */
  tellDelegate(toolCallId: string, verdict: AccountVerdict): void;
  /** A question is about to be opened, by an agent that has waited before it might ask. */
  onLateQuestion(): void;
}

export class SharedAccounts {
  readonly #parts: Parts;
  readonly #parent: Parent | null;
  readonly #longestWaitMs: number;
  readonly #accounts = new Map<string, Account>();

  constructor(turn: TurnInput, parts: Parts) {
    this.#parts = parts;
    this.#parent = turn.asksThroughParent ? createParent(turn.delegation?.toolCallId) : null;
    this.#longestWaitMs = 2 * turn.limits.elicitationTimeoutMs;
    setHandler(accountWanted, (message: unknown) => {
      const wanted = readAccountWanted(message);
      // Nobody else would ever say what came of it, and all who want the account would wait.
      if (!wanted || !parts.isDelegate(wanted.toolCallId)) return;
      const { toolCallId, server } = wanted;
      this.#add(server, toolCallId, (verdict) => this.#parts.tellDelegate(toolCallId, { server, verdict }));
    });
    setHandler(accountConcluded, (message: unknown) => {
      const concluded = readAccountConcluded(message);
      if (concluded) this.#conclude(concluded.server, concluded.toolCallId, concluded.result);
    });
    setHandler(accountVerdict, (message: unknown) => {
      const told = readAccountVerdict(message);
      if (told) this.#onParentsVerdict(told);
    });
  }

  /**
   * Asks with `ask` if it is this agent's to ask; resolves to the outcome, whoever asked. To be called once at a time for
   * each server.
   */
  async connect(server: string, ask: () => Promise<AskResult>): Promise<AskResult> {
    const { verdict, waiting } = this.#want(server);
    let result: AskResult | null = null;
    try {
      // Nothing is awaited when there is nobody to wait for: the order of commands in recorded histories stays.
      const decided = verdict ?? (await waiting());
      if (decided === 'ask') {
        const asking = ask();
        if (verdict === undefined) this.#parts.onLateQuestion();
        result = await asking;
      } else result = decided;
      return result;
    } finally {
      this.#conclude(server, own, result);
    }
  }

  refusalOf(server: string): AskResult | undefined {
    return this.#parts.refused.get(server);
  }

  /** The delegate that is this call has ended. */
  forget(toolCallId: string): void {
    for (const server of this.#accounts.keys()) this.#conclude(server, toolCallId, null);
  }

  #want(server: string): { verdict: Verdict | undefined; waiting(): Promise<Verdict> } {
    let verdict: Verdict | undefined;
    this.#add(server, own, (told) => {
      verdict = told;
    });
    return {
      verdict,
      waiting: async () => {
        await condition(() => verdict !== undefined, this.#longestWaitMs);
        return verdict ?? 'expired';
      },
    };
  }

  #add(server: string, wanter: Wanter, tell: (verdict: Verdict) => void): void {
    const refusal = this.#parts.refused.get(server);
    if (refusal !== undefined) return tell(refusal);
    const account = this.#accounts.get(server) ?? {
      waiting: new Map(),
      asking: null,
      permission: this.#parent ? 'none' : 'given',
    };
    this.#accounts.set(server, account);
    account.waiting.set(wanter, tell);
    this.#next(server, account);
  }

  /** Lets the first that waits ask, once nobody else does. */
  #next(server: string, account: Account): void {
    const [first] = account.waiting;
    if (!first || account.asking !== null) return;
    if (account.permission === 'given') {
      const [wanter, tell] = first;
      account.waiting.delete(wanter);
      account.asking = wanter;
      tell('ask');
    } else if (account.permission === 'none') {
      account.permission = 'requested';
      this.#parent?.want(server);
    }
  }

  /** `told`: null when nothing was, because whoever was to ask has ended. Of one that only waits, nothing counts. */
  #conclude(server: string, wanter: Wanter, told: AskResult | null): void {
    const account = this.#accounts.get(server);
    if (!account) return;
    account.waiting.delete(wanter);
    if (account.asking !== wanter) return;
    account.asking = null;
    // The end of a delegate, with its refusals, may overtake what it had to tell.
    const result = told ?? this.#parts.refused.get(server) ?? null;
    if (result !== null) this.#settle(server, account, result);
    if (account.waiting.size > 0) this.#next(server, account);
    else this.#release(server, account, result);
  }

  /** Everybody who waits has the outcome. */
  #settle(server: string, account: Account, result: AskResult): void {
    if (result !== 'accept') this.#parts.refused.set(server, result);
    const waiting = [...account.waiting.values()];
    account.waiting.clear();
    for (const tell of waiting) tell(result);
  }

  #release(server: string, account: Account, result: AskResult | null): void {
    this.#accounts.delete(server);
    if (account.permission === 'given') this.#parent?.conclude(server, result);
  }

  #onParentsVerdict({ server, verdict }: AccountVerdict): void {
    const account = this.#accounts.get(server);
    if (account?.permission !== 'requested') return;
    account.permission = verdict === 'ask' ? 'given' : 'none';
    if (verdict !== 'ask') this.#settle(server, account, verdict);
    if (account.waiting.size > 0) this.#next(server, account);
    else this.#release(server, account, null);
  }
}

interface Parent {
  want(server: string): void;
  conclude(server: string, result: AskResult | null): void;
}

function createParent(toolCallId: string | undefined): Parent | null {
  const { parent } = workflowInfo();
  if (toolCallId === undefined || !parent) return null;
  const handle = getExternalWorkflowHandle(parent.workflowId);
  // One after the other: signals that are sent concurrently may arrive in any order.
  let delivered = Promise.resolve();
  const send = (signal: () => Promise<void>) => {
    delivered = delivered.then(signal).catch(() => undefined);
  };
  return {
    want: (server) => send(() => handle.signal(accountWanted, { toolCallId, server })),
    conclude: (server, result) => send(() => handle.signal(accountConcluded, { toolCallId, server, result })),
  };
}
