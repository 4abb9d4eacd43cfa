/** One poll of a server of the old era that has asked something: does it still wait, and is its page done? */
import type { CallRounds } from '../activities/call-tool/rounds.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { CredentialStore } from '../credentials/store.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import type { SettlingEvent } from '../storage/ports/elicitations.ts';
import type { RoundRef } from '../turn/tool-call.ts';

export type ServerPollResult =
  | { kind: 'unchanged'; againMs?: number }
  /** The call has no open round any more, or cannot be observed: nothing is left to poll. */
  | { kind: 'ended' }
  | { kind: 'changed'; event: SettlingEvent; elicitationIds: string[] };

interface ServerPollParts {
  config: Pick<Config, 'servers'>;
  rounds: Pick<CallRounds, 'list'>;
  remote: Pick<RemoteServers, 'observeCall'>;
  storeOf(server: ServerConfig): CredentialStore;
}

export function createServerPoll({ config, rounds, remote, storeOf }: ServerPollParts) {
  return async (call: RoundRef, count: number, signal: AbortSignal): Promise<ServerPollResult> => {
    const { turn, toolCallId } = call;
    const server = config.servers.get(call.server);
    const round = (await rounds.list(turn, toolCallId))[call.round - 1];
    if (!server || !round) return { kind: 'ended' };
    const credential = await storeOf(server).resolve(server, connectionKey(server, turn));
    if (credential.kind !== 'credential') return { kind: 'ended' };
    const result = await remote.observeCall({ server, credential, signal }, round, count);
    if (result.kind !== 'changed') return result;
    const changed = round.questions.filter(({ key }) => result.keys.includes(key));
    return {
      kind: 'changed',
      event:
        result.change === 'page_done' ? { type: 'page-done' } : { type: 'withdrawn', because: result.change },
      elicitationIds: changed.map(({ elicitationId }) => elicitationId),
    };
  };
}
