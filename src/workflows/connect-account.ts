/** One question per server, however many tool calls wait for the account. */
import type { AskResult, ConnectionAsk } from '../turn/ask.ts';
import type { Questions } from './elicit.ts';

export type Connect = (ask: ConnectionAsk, user: string) => Promise<AskResult>;

/** Who said no, by server, is not asked again in the same turn, whatever the model tries: `refused` remembers it. */
export function createConnect(questions: Questions, refused: Map<string, AskResult>): Connect {
  const open = new Map<string, Promise<AskResult>>();

  async function ask(ask: ConnectionAsk, user: string): Promise<AskResult> {
    try {
      const outcome = await questions.elicit(ask, user);
      if (outcome !== 'accept') refused.set(ask.server, outcome);
      return outcome;
    } finally {
      open.delete(ask.server);
    }
  }

  return async (need, user) => {
    const refusal = refused.get(need.server);
    if (refusal) return refusal;
    const asking = open.get(need.server) ?? ask(need, user);
    open.set(need.server, asking);
    return asking;
  };
}
