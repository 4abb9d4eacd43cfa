/** One question per server, however many tool calls wait for the account. */
import type { AskResult, ConnectionAsk } from '../turn/ask.ts';
import type { Elicit } from './elicit.ts';

export type ConnectAccount = (ask: ConnectionAsk, user: string) => Promise<AskResult>;

/**
 * `refused` (by server) is read and written here: a user who did not connect an account is not asked for it again in the
 * same turn.
 */
export function createConnectAccount(elicit: Elicit, refused: Map<string, AskResult>): ConnectAccount {
  const open = new Map<string, Promise<AskResult>>();

  async function askOnce(ask: ConnectionAsk, user: string): Promise<AskResult> {
    try {
      const result = await elicit(ask, user);
      if (result !== 'accept') refused.set(ask.server, result);
      return result;
    } finally {
      open.delete(ask.server);
    }
  }

  return async (ask, user) => {
    const refusal = refused.get(ask.server);
    if (refusal) return refusal;
    const asking = open.get(ask.server) ?? askOnce(ask, user);
    open.set(ask.server, asking);
    return asking;
  };
}
