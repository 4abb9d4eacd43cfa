/** One question per server, however many tool calls of this agent wait for the account. */
import type { AskResult, ConnectionAsk } from '../turn/ask.ts';
import type { Elicit } from './elicit.ts';
import type { SharedAccounts } from './shared-accounts.ts';

export type ConnectAccount = (ask: ConnectionAsk, user: string) => Promise<AskResult>;

/** `accounts`: shared with the other agents of the turn. A user who refused an account is not asked for it again. */
export function createConnectAccount(
  elicit: Elicit,
  accounts: Pick<SharedAccounts, 'connect' | 'refusalOf'>,
): ConnectAccount {
  const open = new Map<string, Promise<AskResult>>();

  async function askOnce(ask: ConnectionAsk, user: string): Promise<AskResult> {
    try {
      return await accounts.connect(ask.server, () => elicit(ask, user));
    } finally {
      open.delete(ask.server);
    }
  }

  return async (ask, user) => {
    const refusal = accounts.refusalOf(ask.server);
    if (refusal) return refusal;
    const asking = open.get(ask.server) ?? askOnce(ask, user);
    open.set(ask.server, asking);
    return asking;
  };
}
