/** Looks at what a server of the old era does while people think about its questions. Nothing is decided here. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import { cannotAsk } from '../../../elicitation/capabilities.ts';
import type { ClosedBecause } from '../../../elicitation/elicitation.ts';
import { joinSession } from './joined-session.ts';
import type { JoinedSession, Told } from './joined-session.ts';
import { hear, isAnswerTo, toProgress } from './messages.ts';
import type { DetachedCall, RunningCall, ServerQuestion, Session } from '../../input-required.ts';
import { abandonCall } from './resume-call.ts';
import type { Exchange } from '../tracked-fetch.ts';

export type Sight =
  | { kind: 'quiet' }
  /** The session or its server is not there any more, or will not be looked at. */
  | { kind: 'over' }
  | { kind: 'news'; news: ClosedBecause | 'page_done'; keys: string[] };

/** Whatever was said in between is there at once; a server that says nothing is not waited for. */
const lookMs = 500;
const maxFailures = 3;
const failurePauseMs = 1_000;

interface Watched {
  server: ServerConfig;
  credential: Credential;
  questions: ServerQuestion[];
  signal: AbortSignal;
}

/** One short look at the stream of a call. `count` grows from look to look: the server's clock is told that somebody thinks. */
export async function lookAtCall(
  { server, credential, questions, signal }: Watched,
  call: DetachedCall,
  count: number,
): Promise<Sight> {
  const session = joinSession(server, credential, call, signal);
  for (const question of questions) {
    const progress = toProgress(question, count);
    if (progress) await session.send(progress);
  }
  const looking = new AbortController();
  const { exchange, told } = await openedOr(
    session,
    AbortSignal.any([signal, looking.signal]),
    call.lastEventId,
  );
  const keys = questions.map(({ key }) => key);
  if (signal.aborted) return { kind: 'quiet' };
  if (!told) return isGone(exchange) ? { kind: 'news', news: 'server_gone', keys } : { kind: 'quiet' };
  const enough = setTimeout(() => looking.abort(), lookMs);
  try {
    return await firstNews(told, { questions, callId: call.callId, keys });
  } finally {
    clearTimeout(enough);
    looking.abort();
  }
}

async function firstNews(
  told: AsyncIterable<Told>,
  { questions, callId, keys }: { questions: ServerQuestion[]; callId: string | number; keys: string[] },
): Promise<Sight> {
  for await (const one of told) {
    const sight = sightOf(one, questions);
    if (sight) return sight;
    if (one.message && isAnswerTo(callId, one.message)) return { kind: 'news', news: 'server_gave_up', keys };
  }
  return { kind: 'quiet' };
}

/** Listens until a page is done; for servers that refused a call until the user has been there. */
export async function listenForPages(
  { server, credential, questions, signal }: Watched,
  session: Session,
): Promise<Sight> {
  const joined = joinSession(server, credential, session, signal);
  const { exchange, told } = await joined.read(signal);
  // Servers need not have such a stream, nor keep the session of a call that they refused.
  if (!told) return exchange.status === undefined ? { kind: 'quiet' } : { kind: 'over' };
  for await (const one of told) {
    const sight = sightOf(one, questions);
    if (sight) return sight;
  }
  return { kind: 'quiet' };
}

/** Tells the server that nobody waits for the call any more. A courtesy, within a moment. */
export async function abandonServerCall(
  { server, credential, signal }: Omit<Watched, 'questions'>,
  call: RunningCall,
): Promise<void> {
  await abandonCall(joinSession(server, credential, call, signal), call.callId);
}

/** Some of a restart is waited for; who is away for longer has lost the call. */
async function openedOr(
  session: JoinedSession,
  signal: AbortSignal,
  lastEventId: string,
): ReturnType<JoinedSession['read']> {
  for (let count = 1; ; count++) {
    const opened = await session.read(signal, lastEventId);
    if (opened.told || opened.exchange.status !== undefined || signal.aborted || count === maxFailures)
      return opened;
    await sleep(failurePauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Not when it merely is in trouble, wants another credential, or another reader is still there. */
function isGone({ status }: Exchange): boolean {
  return status === undefined || status === 400 || status === 404 || status === 410;
}

function sightOf({ message }: Told, questions: ServerQuestion[]): Sight | null {
  const heard = message && hear(message, cannotAsk);
  if (heard?.kind === 'withdrawn' && questions.some(({ key }) => key === heard.key))
    return { kind: 'news', news: 'server_gave_up', keys: [heard.key] };
  if (heard?.kind !== 'page-done') return null;
  const keys = questions.filter(({ pageId }) => pageId === heard.pageId).map(({ key }) => key);
  return keys.length > 0 ? { kind: 'news', news: 'page_done', keys } : null;
}
