/** Finds the open round of a call whose server has asked, with the credential for requests about it. */
import type { Config, ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { Credential, CredentialStore } from '../../credentials/store.ts';
import type { RoundRef } from '../../turn/tool-call.ts';
import type { CallRounds, Round } from './rounds.ts';

export interface OpenRounds {
  /** Null when no round is open, or there is no credential for its server any more. */
  find(call: RoundRef): Promise<{ round: Round; server: ServerConfig; credential: Credential } | null>;
}

export interface OpenRoundsDependencies {
  rounds: Pick<CallRounds, 'list'>;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
}

export function createOpenRounds({ rounds, servers, storeOf }: OpenRoundsDependencies): OpenRounds {
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
