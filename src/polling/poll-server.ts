/** One poll of a server of the old era that has asked something: does it still wait, and is its page done? */
import type { OpenRounds } from '../activities/call-tool/open-rounds.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import type { RoundRef } from '../turn/tool-call.ts';
import type { QuestionUpdate } from '../workflows/messages.ts';

export type ServerPollResult =
  | { kind: 'unchanged'; againMs?: number }
  /** The call has no open round any more, or cannot be observed: nothing is left to poll. */
  | { kind: 'ended' }
  | { kind: 'changed'; change: QuestionUpdate['news']; elicitationIds: string[] };

export function createServerPoll(calls: OpenRounds, remote: Pick<RemoteServers, 'observeCall'>) {
  return async (call: RoundRef, count: number, signal: AbortSignal): Promise<ServerPollResult> => {
    const asked = await calls.find(call);
    if (!asked) return { kind: 'ended' };
    const { round, server, credential } = asked;
    const result = await remote.observeCall({ server, credential, signal }, round, count);
    if (result.kind !== 'changed') return result;
    const changed = round.questions.filter(({ key }) => result.keys.includes(key));
    return {
      kind: 'changed',
      change: result.change,
      elicitationIds: changed.map(({ elicitationId }) => elicitationId),
    };
  };
}
