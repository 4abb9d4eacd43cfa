/** A call whose server has asked, as it can be met while people think: the round that is open, and who may speak there. */
import type { Config, ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { Credential, CredentialStore } from '../../credentials/store.ts';
import type { Turn } from '../../turn/turn.ts';
import type { CallRounds, Round } from './rounds.ts';

export interface AskedCall {
  turn: Turn;
  toolCallId: string;
  server: string;
  /** The round whose questions are open. */
  round: number;
}

export interface AskedCalls {
  /** Null when it is over, or nobody may speak there any more. */
  find(call: AskedCall): Promise<{ round: Round; server: ServerConfig; credential: Credential } | null>;
}

export interface AskedCallDependencies {
  rounds: Pick<CallRounds, 'list'>;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
}

export function createAskedCalls({ rounds, servers, storeOf }: AskedCallDependencies): AskedCalls {
  return {
    async find({ turn, toolCallId, server: name, round: number }) {
      const server = servers.get(name);
      const round = (await rounds.list(turn, toolCallId))[number - 1];
      if (!server || !round) return null;
      const credential = await storeOf(server).resolve(server, connectionKey(server, turn));
      return credential.kind === 'credential' ? { round, server, credential } : null;
    },
  };
}
