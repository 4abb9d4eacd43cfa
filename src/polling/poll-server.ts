/** What a server of the old era does while people think: whether it still waits, or says that its page is done. */
import type { OpenRounds } from '../activities/call-tool/open-rounds.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import type { RoundRef } from '../turn/tool-call.ts';
import type { QuestionUpdate } from '../workflows/messages.ts';

export type ServerSight =
  | { kind: 'quiet' }
  /** There is nothing to look at any more. */
  | { kind: 'over' }
  | { kind: 'news'; news: QuestionUpdate['news']; about: string[] };

export function createServerLook(calls: OpenRounds, remote: Pick<RemoteServers, 'observeCall'>) {
  return async (call: RoundRef, count: number, signal: AbortSignal): Promise<ServerSight> => {
    const asked = await calls.find(call);
    if (!asked) return { kind: 'over' };
    const { round, server, credential } = asked;
    const sight = await remote.observeCall({ server, credential, signal }, round, count);
    if (sight.kind !== 'news') return sight;
    const heard = round.questions.filter(({ key }) => sight.keys.includes(key));
    return { kind: 'news', news: sight.news, about: heard.map(({ elicitationId }) => elicitationId) };
  };
}
