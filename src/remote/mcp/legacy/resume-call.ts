/**
 * Resumes a call of the old era that was left to its server while people thought: the answers are sent into its session,
 * and the call's stream is read from where it was left. Any process can do this, not only the one that made the call.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import { cannotAsk } from '../../../elicitation/capabilities.ts';
import { sendBestEffort } from '../../best-effort.ts';
import { startDeadline } from '../../deadline.ts';
import type { DetachedCall, QuestionAnswer } from '../../input-required.ts';
import type { CallOutcome, ToolCall } from '../../tool-call.ts';
import { orUnaskable, outcomeOf, unaskable } from '../call-outcome.ts';
import type { Exchange } from '../exchange.ts';
import { failureMessage } from '../failure-message.ts';
import { notifyListener } from '../notifications.ts';
import { refusedAccount } from '../../refused-account.ts';
import { tooManyQuestions } from '../../read-question.ts';
import { joinSession } from './joined-session.ts';
import type { JoinedSession } from './joined-session.ts';
import { isAnswerTo, readServerMessage } from './messages.ts';
import { batchQuestions } from './question-batch.ts';
import { readCallStream } from './read-call-stream.ts';
import { createRefusalGracePeriod } from './refusal-grace-period.ts';
import { sendAnswers } from './send-answers.ts';

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
    const unknown = {
      kind: 'unknown' as const,
      message: failureMessage(server, exchange, deadline.end),
    };
    // Of a stream that cannot be resumed, 400 says that its event is not known any more.
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
    () => end({ kind: 'unknown', message: failureMessage(server, session.exchanges.last(), deadline.end) }),
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

/** A call that is not paused again is over for us, and the server is told so. */
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
