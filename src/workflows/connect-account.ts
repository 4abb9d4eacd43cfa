/** One question per server, however many tool calls wait for the account. */
import type { ConnectionAsk } from '../activities/questions.ts';
import type { Asked, Questions } from './elicit.ts';

export type Connect = (ask: ConnectionAsk, user: string) => Promise<Asked>;

/** Who said no, by server, is not asked again in the same turn, whatever the model tries: `refused` remembers it. */
export function createConnect(questions: Questions, refused: Map<string, Asked>): Connect {
  const open = new Map<string, Promise<Asked>>();

  async function ask(ask: ConnectionAsk, user: string): Promise<Asked> {
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
