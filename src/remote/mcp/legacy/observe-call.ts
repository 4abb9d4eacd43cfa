/** Observes an open call at a server of the old era while a person is asked. Reports changes, and decides nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type {
  DetachedCall,
  RunningCall,
  ServerQuestion,
  Session,
} from '@interlude-ai/core/mcp/input-required.ts';
import type { Observation, ServerAccess } from '../../remote-servers.ts';
import type { Exchange } from '@interlude-ai/core/mcp/tracked-request.ts';
import { joinSession } from './joined-session.ts';
import type { JoinedSession, StreamEvent } from './joined-session.ts';
import { isAnswerTo, readServerMessage, toProgress } from '@interlude-ai/core/mcp/legacy-messages.ts';
import { cancelCall } from './resume-call.ts';

/** How long to read. Events since the last observation are replayed at once. */
const readMs = 500;
/**
 * How long to wait for headers. A server with nothing to send may send none (Go's SDK), and meanwhile refuses the reader
 * that resumes the call.
 */
const headersMs = 2_000;
const maxFailures = 3;
const failureBackoffMs = 1_000;
/**
 * Enough to notice that a server cannot be reached. One that accepts the connection and sends nothing counts as waiting.
 */
const timeoutMs = 45_000;

interface Observed extends ServerAccess {
  questions: ServerQuestion[];
}

/** Sends `count` as progress, which extends the timeout of some servers, and reads the stream for `readMs`. */
export async function observeCall(
  observed: Observed,
  call: DetachedCall,
  count: number,
): Promise<Observation> {
  const { server, credential, questions } = observed;
  const signal = AbortSignal.any([observed.signal, AbortSignal.timeout(timeoutMs)]);
  const session = joinSession(server, credential, call, signal);
  for (const question of questions) {
    const progress = toProgress(question, count);
    if (progress) await session.send(progress);
  }
  const enough = new AbortController();
  const reading = AbortSignal.any([signal, enough.signal]);
  const silence = setTimeout(() => enough.abort(), headersMs);
  const { exchange, events } = await openStream(session, reading, call.lastEventId, () => silence.refresh());
  clearTimeout(silence);
  const keys = questions.map(({ key }) => key);
  if (reading.aborted) return { kind: 'unchanged' };
  if (!events)
    return isGone(exchange) ? { kind: 'changed', change: 'server_gone', keys } : { kind: 'unchanged' };
  const timer = setTimeout(() => enough.abort(), readMs);
  try {
    return await firstChange(events, { questions, callId: call.callId, keys });
  } finally {
    clearTimeout(timer);
    enough.abort();
  }
}

async function firstChange(
  events: AsyncIterable<StreamEvent>,
  { questions, callId, keys }: { questions: ServerQuestion[]; callId: string | number; keys: string[] },
): Promise<Observation> {
  for await (const event of events) {
    const change = changeIn(event, questions);
    if (change) return change;
    if (event.message && isAnswerTo(callId, event.message))
      return { kind: 'changed', change: 'server_gave_up', keys };
  }
  return { kind: 'unchanged' };
}

/** Listens until a page is done, for servers that refused a call until the user has visited it. */
export async function listenForPages(
  { server, credential, questions, signal }: Observed,
  session: Session,
): Promise<Observation> {
  const joined = joinSession(server, credential, session, signal);
  const { exchange, events } = await joined.read(signal);
  // Servers may have no such stream, and may not keep the session of a refused call.
  if (!events) return exchange.status === undefined ? { kind: 'unchanged' } : { kind: 'ended' };
  for await (const event of events) {
    const change = changeIn(event, questions);
    if (change) return change;
  }
  return { kind: 'unchanged' };
}

export async function cancelServerCall(
  { server, credential, signal }: ServerAccess,
  call: RunningCall,
): Promise<void> {
  await cancelCall(joinSession(server, credential, call, signal), call.callId);
}

/** Retries for a few seconds, for a server that restarts. One that is away for longer has lost the call. */
async function openStream(
  session: JoinedSession,
  signal: AbortSignal,
  lastEventId: string,
  onAttempt: () => void,
): ReturnType<JoinedSession['read']> {
  for (let count = 1; ; count++) {
    onAttempt();
    const opened = await session.read(signal, lastEventId);
    if (opened.events || opened.exchange.status !== undefined || signal.aborted || count === maxFailures)
      return opened;
    await sleep(failureBackoffMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Other errors do not count: a wrong credential, or another reader. */
function isGone({ status }: Exchange): boolean {
  return status === undefined || status === 400 || status === 404 || status === 410;
}

function changeIn({ message }: StreamEvent, questions: ServerQuestion[]): Observation | null {
  const read = message && readServerMessage(message, cannotAsk);
  if (read?.kind === 'withdrawn' && questions.some(({ key }) => key === read.key))
    return { kind: 'changed', change: 'server_gave_up', keys: [read.key] };
  if (read?.kind !== 'page-done') return null;
  const keys = questions.filter(({ pageId }) => pageId === read.pageId).map(({ key }) => key);
  return keys.length > 0 ? { kind: 'changed', change: 'page_done', keys } : null;
}
