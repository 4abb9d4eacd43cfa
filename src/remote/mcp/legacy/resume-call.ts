/**
 * Goes on with a call of the old era that was left to its server while people thought: the answers go into its session,
 * and the call's stream is read from where it was left. Whoever does this need not be who made the call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import { cannotAsk } from '../../../elicitation/capabilities.ts';
import type { ServerToolCall } from '../call.ts';
import { createCoping } from './refusal-grace-period.ts';
import { startDeadline } from '../../deadline.ts';
import { sayGoodbye } from '../../best-effort.ts';
import { gatherQuestions } from './question-batch.ts';
import { joinSession } from './joined-session.ts';
import type { JoinedSession, Told } from './joined-session.ts';
import { hear, isAnswerTo, toResponse } from './messages.ts';
import { hearNews } from '../notifications.ts';
import type { DetachedCall, QuestionAnswer } from '../../input-required.ts';
import { tooManyQuestions } from '../read-question.ts';
import { describeTrouble } from '../failure-message.ts';
import { judge, unaskable, unlessItCoped } from '../call-outcome.ts';
import type { CallOutcome } from '../call-outcome.ts';
import type { Exchange } from '../tracked-fetch.ts';

/** Some servers replay a stream but do not go on with it; a stream that rests is read anew, ever more rarely. */
const firstRestMs = 2_000;
const longestRestMs = 30_000;
/** A server that restarts, or has not noticed yet that the last reader is gone. */
const maxFailures = 8;
const failurePauseMs = 250;

export async function resumeServerCall(
  server: ServerConfig,
  credential: Credential,
  { capabilities = cannotAsk, signal, isHandedOn, callId, ...listener }: ServerToolCall,
  { call, answers }: { call: DetachedCall; answers: QuestionAnswer[] },
): Promise<CallOutcome> {
  using deadline = startDeadline(server.timeout, signal);
  using gathered = gatherQuestions(() => end(unaskable(server, tooManyQuestions)));
  const over = new AbortController();
  const session = joinSession(server, credential, call, deadline.signal);
  const { promise: ended, resolve: end } = Promise.withResolvers<CallOutcome>();
  let { lastEventId } = call;
  const coping = createCoping((reason) => end(unaskable(server, reason)));

  const unknown = (exchange: Exchange | undefined): CallOutcome => ({
    kind: 'unknown',
    message: describeTrouble(server, exchange, deadline.end),
  });

  function take({ message, eventId }: Told): void {
    lastEventId = eventId ?? lastEventId;
    if (!message) return;
    if (isAnswerTo(call.callId, message)) {
      const sighting = { exchange: session.wire.last(), answer: message, end: undefined };
      return end(unlessItCoped(server, judge(server, sighting, capabilities), coping.refused()));
    }
    hearNews(message, callId, listener);
    const heard = hear(message, capabilities);
    if (heard?.kind === 'question' && !call.asked.includes(heard.question.key)) gathered.add(heard.question);
    if (heard?.kind === 'withdrawn') gathered.withdraw(heard.key);
    if (heard?.kind === 'unaskable') {
      void session.send(heard.refusal);
      coping.refuse(heard.reason);
    }
  }

  void gathered.complete.then((questions) => {
    const asked = [...call.asked, ...questions.map(({ key }) => key)];
    end({
      kind: 'asks',
      pause: { questions, resume: { kind: 'detached', call: { ...call, lastEventId, asked } } },
    });
  });
  deadline.signal.addEventListener('abort', () => end(unknown(session.wire.last())), { once: true });

  const listening = listen(session, {
    from: () => lastEventId,
    take,
    signal: AbortSignal.any([over.signal, deadline.signal]),
    opened: () =>
      void sendAnswers(session, answers).then((failed) =>
        failed ? end(failed(unknown)) : listener.onSent?.(),
      ),
  });
  void listening.then((failure) => failure && end(refusedOr(failure, unknown)));

  const outcome = await ended;
  coping.end();
  over.abort();
  await listening;
  const goesOn = deadline.end === 'cancelled' && isHandedOn?.() === true;
  if (!goesOn) await leave(session, call, outcome);
  return outcome;
}

interface Listening {
  from(): string;
  take(told: Told): void;
  /** Called once, when the stream is being read: nothing that follows the answers can be missed. */
  opened(): void;
  signal: AbortSignal;
}

/** Reads until `signal` aborts; resolves with the last exchange when the server will not have it. */
async function listen(
  session: JoinedSession,
  { from, take, opened, signal }: Listening,
): Promise<Exchange | null> {
  let failures = 0;
  let restMs = firstRestMs;
  let isFirst = true;
  while (!signal.aborted) {
    const resting = new AbortController();
    const { exchange, told } = await session.read(AbortSignal.any([signal, resting.signal]), from());
    if (signal.aborted) return null;
    if (!told) {
      const mayPass = exchange.status === undefined || exchange.status === 409 || exchange.status >= 500;
      if (!mayPass || ++failures >= maxFailures) return exchange;
      await sleep(failurePauseMs, undefined, { signal }).catch(() => undefined);
      continue;
    }
    failures = 0;
    if (isFirst) opened();
    isFirst = false;
    let rest = setTimeout(() => resting.abort(), restMs);
    for await (const one of told) {
      clearTimeout(rest);
      take(one);
      rest = setTimeout(() => resting.abort(), restMs);
    }
    clearTimeout(rest);
    restMs = Math.min(restMs * 2, longestRestMs);
    // A stream that ends at once would otherwise be read in circles.
    if (!resting.signal.aborted) await sleep(failurePauseMs, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

type Failed = (unknown: (exchange: Exchange) => CallOutcome) => CallOutcome;

/** Null when all got through, or when what became of them is for the stream to say. */
async function sendAnswers(session: JoinedSession, answers: QuestionAnswer[]): Promise<Failed | null> {
  for (const answer of answers) {
    let exchange = await session.send(toResponse(answer));
    for (let count = 1; !exchange.left && count < maxFailures; count++) {
      await sleep(failurePauseMs);
      exchange = await session.send(toResponse(answer));
    }
    const { status } = exchange;
    const isRefused = status === 401 || status === 403 || status === 404;
    if (!exchange.left || isRefused) return (unknown) => refusedOr(exchange, unknown);
  }
  return null;
}

function refusedOr(exchange: Exchange, unknown: (exchange: Exchange) => CallOutcome): CallOutcome {
  const { status, challenge } = exchange;
  return status === 401 || status === 403 ? { kind: 'refused', status, challenge } : unknown(exchange);
}

/** A call that is not paused again is over for us, and the server is told so. */
async function leave(session: JoinedSession, { callId }: DetachedCall, { kind }: CallOutcome): Promise<void> {
  if (kind === 'asks' || kind === 'refused') return;
  const isUnderWay = kind === 'unknown' || kind === 'unaskable';
  if (isUnderWay) await abandonCall(session, callId);
  else void sayGoodbye(session.end());
}

export async function abandonCall(session: JoinedSession, callId: string | number): Promise<void> {
  const params = { requestId: callId, reason: 'Nobody waits for it any more.' };
  const goodbye = session
    .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    .then(() => session.end());
  await sayGoodbye(goodbye);
}
