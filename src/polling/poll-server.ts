/** What a server of the old era does while people think: whether it still waits, or says that its page is done. */
import type { OpenRounds } from '../activities/call-tool/open-rounds.ts';
import type { Round } from '../activities/call-tool/rounds.ts';
import { listenForPages, lookAtCall } from '../remote/mcp/legacy/observe-call.ts';
import type { Sight } from '../remote/mcp/legacy/observe-call.ts';
import type { RoundRef } from '../turn/tool-call.ts';
import type { ServerNews } from '../workflows/messages.ts';

export type ServerSight =
  | { kind: 'quiet' }
  /** There is nothing to look at any more. */
  | { kind: 'over' }
  | { kind: 'news'; news: ServerNews['news']; about: string[] };

/** Enough to find out that nobody can be reached there; who takes the connection and says nothing has not ended anything. */
const longestLookMs = 45_000;

export function createServerLook(calls: OpenRounds) {
  return async (call: RoundRef, count: number, signal: AbortSignal): Promise<ServerSight> => {
    const asked = await calls.find(call);
    if (!asked) return { kind: 'over' };
    const { round, server, credential } = asked;
    const sight = await look(round, { server, credential, questions: round.questions, signal }, count);
    if (sight.kind !== 'news') return sight;
    const heard = round.questions.filter(({ key }) => sight.keys.includes(key));
    return { kind: 'news', news: sight.news, about: heard.map(({ elicitationId }) => elicitationId) };
  };
}

function look(
  { resume }: Round,
  watched: Parameters<typeof lookAtCall>[0],
  count: number,
): Promise<Sight> | Sight {
  if (resume.kind === 'detached') {
    const signal = AbortSignal.any([watched.signal, AbortSignal.timeout(longestLookMs)]);
    return lookAtCall({ ...watched, signal }, resume.call, count);
  }
  if (resume.kind === 'again' && resume.session) return listenForPages(watched, resume.session);
  return { kind: 'over' };
}
