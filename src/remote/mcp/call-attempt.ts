/** One attempt at one round of a call: a connection, the request, what the server sends meanwhile, and the outcome. */
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { Deadline } from '../deadline.ts';
import type { InputRequired, Session } from '../input-required.ts';
import type { CallOutcome, ToolCall } from '../tool-call.ts';
import { orUnaskable, outcomeOf, unaskable } from './call-outcome.ts';
import type { CallTrace } from './call-outcome.ts';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { handleServerRequests } from './legacy/server-requests.ts';
import type { EarlyEnd, ServerRequests } from './legacy/server-requests.ts';
import type { OwnerSessions } from './legacy/session-pool.ts';
import { notifyListener } from './notifications.ts';
import { isPooledSessionGone, outdatedCacheOf } from './outdated-cache.ts';
import type { OutdatedCache } from './outdated-cache.ts';
import { sendCall } from './send-call.ts';
import type { Era, ServerEras } from './server-eras.ts';
import { holdRounds } from './stdio/held-rounds.ts';

export interface CallParts {
  server: ServerConfig;
  credential: Credential;
  deadline: Deadline;
  eras: ServerEras;
  /** Which one the call has to be made in; otherwise the one in which the server can ask. */
  era?: Era | undefined;
  sessions: OwnerSessions | undefined;
}

export interface AttemptResult {
  outcome: CallOutcome;
  /** What was remembered and made the server turn the call down before anything was done. */
  outdated?: OutdatedCache | undefined;
  /** In which the call was made. */
  era?: Era | undefined;
}

/** `connection`: what becomes of it. A detached one is closed here while its session goes on at the server. */
interface AttemptEnd extends AttemptResult {
  connection: 'pool' | 'detached' | 'close';
}

/** An attempt whose connection is open. */
interface OpenAttempt extends CallParts {
  call: ToolCall;
  capabilities: Capabilities;
  connection: Connection;
  isPooled: boolean;
  /** The one that was joined instead of a handshake. */
  session: Session | undefined;
  /** Of the old era: there the server sends requests of its own. */
  requests: ServerRequests | null;
  messages: ServerMessages;
}

/** `pooled`: a connection of an earlier call; otherwise one is opened. */
export async function attemptCall(
  parts: CallParts,
  call: ToolCall,
  pooled?: Connection,
): Promise<AttemptResult> {
  const { server, credential, deadline, eras, era, sessions } = parts;
  const { capabilities = cannotAsk, askUser, continuation, onProcessExit } = call;
  const messages = collectMessages(call, () => sessions?.drop(server));
  // Whoever has been to the pages may be known to the session, and to nothing else.
  const session = continuation?.resume.kind === 'again' ? continuation.resume.session : undefined;
  const target = {
    server,
    credential,
    deadline,
    eras,
    era,
    tool: call.name,
    capabilities,
    session,
    onProcessExit,
    onMessage: messages.onMessage,
    onSending: ({ method }: Exchange) => method === 'tools/call' && call.onSent?.(),
  };
  pooled?.beginOperation(target);
  const connection = pooled ?? (await connect(target));
  if (connection.kind !== 'connected') return { outcome: connection };
  if (connection.exchanges.last() === undefined) await deliverPendingEvents();

  const isModern = connection.client.getProtocolEra() === 'modern';
  const requests = isModern ? null : handleServerRequests({ connection, capabilities, deadline, askUser });
  const isPooled = pooled !== undefined;
  const attempt = { ...parts, call, capabilities, connection, isPooled, session, requests, messages };
  messages.startNotifying();
  let end: AttemptEnd | undefined;
  try {
    end = await callUntilDone(attempt);
    return { ...end, era: isModern ? 'modern' : 'legacy' };
  } finally {
    // With an answer, the server has gone on without waiting any longer; without one, it is not there any more.
    requests?.end(traceOf(attempt).answer ? 'server_gave_up' : 'server_gone');
    if (end?.connection === 'pool' && sessions)
      sessions.keep({ server, credential, capabilities }, connection);
    else if (end?.connection !== 'detached') connection.close();
  }
}

async function callUntilDone(attempt: OpenAttempt): Promise<AttemptEnd> {
  const { server, deadline, call, capabilities, connection, requests, session } = attempt;
  const held =
    server.process && call.askUser && holdRounds({ server, connection, deadline, askUser: call.askUser });
  let current = call;
  for (;;) {
    const early = await sendCall(connection, current, deadline, requests);
    if (early) return endEarly(attempt, early);
    const trace = traceOf(attempt);
    const outcome = orUnaskable(server, outcomeOf(server, trace, capabilities), requests?.refusalReason());
    if (attempt.isPooled && isPooledSessionGone(outcome, trace))
      return { outcome, outdated: 'pooled-session', connection: 'close' };
    const outdated = outdatedCacheOf(connection, outcome, trace, session);
    if (outcome.kind !== 'asks' || outdated) {
      const isReusable = outcome.kind === 'result' && isClear(attempt);
      return { outcome, outdated, connection: isReusable ? 'pool' : 'close' };
    }
    if (!held) return endWithQuestions(attempt, outcome.pause);
    const round = await held(outcome.pause);
    if (round.kind === 'stopped')
      return { outcome: { kind: 'unaskable', message: round.message }, connection: 'close' };
    current = { ...call, continuation: round.continuation };
  }
}

async function endEarly(attempt: OpenAttempt, end: EarlyEnd): Promise<AttemptEnd> {
  const { server, capabilities, connection } = attempt;
  switch (end.kind) {
    case 'detached':
      await connection.detach();
      return { outcome: { kind: 'asks', pause: end.pause }, connection: 'detached' };
    case 'unaskable':
      return { outcome: unaskable(server, end.reason), connection: 'close' };
    case 'stopped':
      return { outcome: { kind: 'unaskable', message: end.message }, connection: 'close' };
    case 'lost':
      return { outcome: outcomeOf(server, traceOf(attempt), capabilities), connection: 'close' };
    default:
      return end satisfies never;
  }
}

/** In the old era the session is where the server will say that the pages are done, if it keeps sessions at all. */
async function endWithQuestions(
  { connection, requests }: OpenAttempt,
  pause: InputRequired,
): Promise<AttemptEnd> {
  if (!requests) return { outcome: { kind: 'asks', pause }, connection: 'close' };
  const session = sessionOf(connection);
  if (session) await connection.detach();
  const resume = { kind: 'again' as const, ...(session && { session }) };
  return {
    outcome: { kind: 'asks', pause: { ...pause, resume } },
    connection: session ? 'detached' : 'close',
  };
}

/** Nothing of this call is open between the two sides, so that the session can serve another. */
function isClear({ requests, session, messages }: OpenAttempt): boolean {
  return requests?.isClear() === true && session === undefined && !messages.haveNewTools();
}

function sessionOf({ transport }: Connection): Session | undefined {
  const { sessionId, protocolVersion } = transport;
  return sessionId !== undefined && protocolVersion !== undefined
    ? { sessionId, protocolVersion }
    : undefined;
}

function traceOf({ connection, messages, deadline, credential }: OpenAttempt): CallTrace {
  const exchange = connection.exchanges.last('tools/call');
  return { exchange, answer: exchange && messages.answerTo(exchange.id), end: deadline.end, credential };
}

interface ServerMessages {
  onMessage(message: JSONRPCMessage): void;
  /** Notifications count from here on: some servers send `tools/list_changed` with every handshake. */
  startNotifying(): void;
  haveNewTools(): boolean;
  answerTo(id: unknown): JSONRPCMessage | undefined;
}

function collectMessages(call: ToolCall, dropSessions: () => void): ServerMessages {
  const inbox: JSONRPCMessage[] = [];
  let isNotifying = false;
  let haveNewTools = false;
  const listener = {
    ...call,
    onToolsChanged() {
      // Many servers have a list of tools for each session, which was made when the session began.
      haveNewTools = true;
      dropSessions();
      call.onToolsChanged?.();
    },
  };
  return {
    onMessage(message) {
      if (isNotifying) notifyListener(message, call.callId, listener);
      inbox.push(message);
    },
    startNotifying: () => void (isNotifying = true),
    haveNewTools: () => haveNewTools,
    answerTo: (id) => inbox.find((message) => isAnswer(message) && message.id === id),
  };
}

function isAnswer(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}

/**
 * A pooled connection may have ended unnoticed. Whatever has reached this machine is delivered within two turns of the
 * event loop: a request on a connection that has ended would leave the call's outcome unknown.
 */
async function deliverPendingEvents(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
