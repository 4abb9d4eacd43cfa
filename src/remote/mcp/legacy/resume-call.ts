/**
 * Resumes a call of the old era that was left at its server while a person was asked: sends the answers into its session,
 * and reads the call's stream from where it was left. Any process can do this, not only the one that made the call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../../platform/config/config.ts';
import type { Credential } from '../../../credentials/credential-store.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import { sendBestEffort } from '../../best-effort.ts';
import { startDeadline } from '../../deadline.ts';
import type { DetachedCall, QuestionAnswer } from '@interlude-ai/core/mcp/input-required.ts';
import type { CallOutcome, ToolCall } from '../../remote-servers.ts';
import { orUnaskable, outcomeOf, unaskable } from '../call-outcome.ts';
import type { Exchange } from '@interlude-ai/core/mcp/tracked-request.ts';
import { outcomeWith } from '../../network-failure.ts';
import { troubleOf } from '../server-trouble.ts';
import { notifyListener } from '../notifications.ts';
import { refusedAccount } from '../../request-account.ts';
import { tooManyQuestions } from '@interlude-ai/core/mcp/read-question.ts';
import { joinSession } from './joined-session.ts';
import type { JoinedSession, StreamEvent } from './joined-session.ts';
import { isAnswerTo, readServerMessage, toResponse } from '@interlude-ai/core/mcp/legacy-messages.ts';
import { batchQuestions, createRefusalGracePeriod } from './server-requests.ts';

interface Resumed {
  call: DetachedCall;
  answers: QuestionAnswer[];
}

export async function resumeServerCall(
  server: ServerConfig,
  credential: Credential,
  { capabilities = cannotAsk, signal, isHandedOn, callId, ...listener }: ToolCall,
  { call, answers }: Resumed,
): Promise<CallOutcome> {
  using deadline = startDeadline(server.timeout, signal);
  const { promise: ended, resolve: end } = Promise.withResolvers<CallOutcome>();
  using batch = batchQuestions(() => end(unaskable(server, tooManyQuestions)));
  const refusal = createRefusalGracePeriod((reason) => end(unaskable(server, reason)));
  const session = joinSession(server, credential, call, deadline.signal);
  const over = new AbortController();
  let { lastEventId } = call;

  const endWithFailure = (exchange: Exchange | undefined) => {
    const unknown = outcomeWith('unknown', troubleOf(server, exchange, deadline.end));
    // 400 means that the server no longer knows the event to resume from.
    const refused = exchange?.status === 400 ? null : refusedAccount(exchange, credential, unknown);
    end(refused ?? unknown);
  };

  function handle(message: JSONRPCMessage): void {
    if (isAnswerTo(call.callId, message)) {
      const trace = { exchange: session.exchanges.last(), answer: message, end: undefined, credential };
      return end(orUnaskable(server, outcomeOf(server, trace, capabilities), refusal.reason()));
    }
    notifyListener(message, callId, listener);
    const read = readServerMessage(message, capabilities);
    if (read?.kind === 'question' && !call.asked.includes(read.question.key)) batch.add(read.question);
    if (read?.kind === 'withdrawn') batch.withdraw(read.key);
    if (read?.kind === 'unaskable') {
      void session.send(read.refusal);
      refusal.start(read.reason);
    }
  }

  async function answer(): Promise<void> {
    const failed = await sendAnswers(session, answers);
    if (failed) endWithFailure(failed);
    else listener.onSent?.();
  }

  void batch.complete.then((questions) => {
    const asked = [...call.asked, ...questions.map(({ key }) => key)];
    const resume = { kind: 'detached' as const, call: { ...call, lastEventId, asked } };
    end({ kind: 'asks', pause: { questions, resume } });
  });
  deadline.signal.addEventListener(
    'abort',
    () => end(outcomeWith('unknown', troubleOf(server, session.exchanges.last(), deadline.end))),
    { once: true },
  );
  const reading = readCallStream(session, {
    lastEventId: () => lastEventId,
    onEvent({ message, eventId }) {
      lastEventId = eventId ?? lastEventId;
      if (message) handle(message);
    },
    onOpen: () => void answer(),
    signal: AbortSignal.any([over.signal, deadline.signal]),
  });
  void reading.then((failed) => failed && endWithFailure(failed));

  const outcome = await ended;
  refusal.end();
  over.abort();
  await reading;
  const isResumedElsewhere = deadline.end === 'cancelled' && isHandedOn?.() === true;
  if (!isResumedElsewhere) await leaveCall(session, call, outcome);
  return outcome;
}

/** Ends the call at the server, unless it is paused again. */
async function leaveCall(
  session: JoinedSession,
  { callId }: DetachedCall,
  { kind }: CallOutcome,
): Promise<void> {
  if (kind === 'asks' || kind === 'refused') return;
  const isUnderWay = kind === 'unknown' || kind === 'unaskable';
  if (isUnderWay) await cancelCall(session, callId);
  else void sendBestEffort(session.end());
}

export async function cancelCall(session: JoinedSession, callId: string | number): Promise<void> {
  const params = { requestId: callId, reason: 'Nobody waits for it any more.' };
  const cancelled = session
    .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    .then(() => session.end());
  await sendBestEffort(cancelled);
}

/** Some servers replay a stream but do not continue it, so an idle one is opened again, with exponential backoff. */
const firstRestMs = 2_000;
const longestRestMs = 30_000;
/** Go's SDK sends no headers before the first event, which may only come after our answers. */
const headersMs = 500;
/** For a server that restarts, or has not yet noticed that the last reader is gone. */
const maxFailures = 8;
const failureBackoffMs = 250;

interface Reading {
  lastEventId(): string;
  onEvent(event: StreamEvent): void;
  /** Called once, when the stream is open or was requested and not refused: later events are replayed if it breaks. */
  onOpen(): void;
  signal: AbortSignal;
}

/**
 * Reads until `signal` aborts, and opens the stream again whenever it ends or is idle. Resolves with the last exchange if
 * the server refuses.
 */
async function readCallStream(
  session: JoinedSession,
  { lastEventId, onEvent, onOpen, signal }: Reading,
): Promise<Exchange | null> {
  const backOff = () => sleep(failureBackoffMs, undefined, { signal }).catch(() => undefined);
  let failures = 0;
  let restMs = firstRestMs;
  let isFirst = true;
  const open = () => {
    if (isFirst) onOpen();
    isFirst = false;
  };
  while (!signal.aborted) {
    const resting = new AbortController();
    let rest = setTimeout(() => resting.abort(), restMs);
    const read = session.read(AbortSignal.any([signal, resting.signal]), lastEventId());
    const silence = new AbortController();
    void sleep(headersMs, undefined, { signal: silence.signal }).then(open, () => undefined);
    const { exchange, events } = await read;
    silence.abort();
    if (signal.aborted || !events) clearTimeout(rest);
    if (signal.aborted) return null;
    if (resting.signal.aborted) {
      restMs = Math.min(restMs * 2, longestRestMs);
      continue;
    }
    if (!events) {
      if (!isTransient(exchange) || ++failures >= maxFailures) return exchange;
      await backOff();
      continue;
    }
    failures = 0;
    open();
    for await (const event of events) {
      clearTimeout(rest);
      onEvent(event);
      rest = setTimeout(() => resting.abort(), restMs);
    }
    clearTimeout(rest);
    restMs = Math.min(restMs * 2, longestRestMs);
    // Without a pause, a stream that ends at once would be opened in a tight loop.
    if (!resting.signal.aborted) await backOff();
  }
  return null;
}

function isTransient({ status }: Exchange): boolean {
  return status === undefined || status === 409 || status >= 500;
}

/**
 * Sends each answer as the response to the server's request. Null when all were sent, or when the stream will show what
 * became of them; otherwise the failed exchange.
 */
async function sendAnswers(session: JoinedSession, answers: QuestionAnswer[]): Promise<Exchange | null> {
  for (const answer of answers) {
    let exchange = await session.send(toResponse(answer));
    for (let count = 1; !exchange.isSent && count < maxFailures; count++) {
      await sleep(failureBackoffMs);
      exchange = await session.send(toResponse(answer));
    }
    const { status } = exchange;
    const isRefused = status === 401 || status === 403 || status === 404;
    if (!exchange.isSent || isRefused) return exchange;
  }
  return null;
}
