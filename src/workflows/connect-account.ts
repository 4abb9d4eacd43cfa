/** One question per server, however many tool calls wait for the account. */
import type { AskResult, ConnectionAsk } from '../turn/ask.ts';
import type { Elicit } from './elicit.ts';

export type ConnectAccount = (ask: ConnectionAsk, user: string) => Promise<AskResult>;

/** Who said no, by server, is not asked again in the same turn, whatever the model tries: `refused` remembers it. */
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
