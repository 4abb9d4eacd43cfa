/**
 * One attempt at one round of a call: opens a connection, sends the request, handles what the server sends meanwhile, and
 * returns the outcome. The outcome is read from the exchanges, not from the SDK's errors.
 */
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Deadline } from '../deadline.ts';
import type { InputRequired, Session } from '@interlude-ai/core/mcp/input-required.ts';
import type { CallOutcome, ToolCall } from '../remote-servers.ts';
import { isPooledSessionGone, orUnaskable, outcomeOf, outdatedCacheOf, unaskable } from './call-outcome.ts';
import type { CallTrace, OutdatedCache } from './call-outcome.ts';
import { connect } from './connect.ts';
import { noTimeoutMs } from './connection.ts';
import type { Connection } from './connection.ts';
import type { Exchange, ExchangeLog } from '@interlude-ai/core/mcp/tracked-request.ts';
import { handleServerRequests } from './legacy/server-requests.ts';
import type { EarlyEnd, ServerRequests } from './legacy/server-requests.ts';
import type { OwnerSessions } from './legacy/session-pool.ts';
import { notifyListener } from './notifications.ts';
import type { Era, ServerEras } from './server-eras.ts';
import { holdRounds } from './held-rounds.ts';
import { setMcpAttributes, outgoingTrace } from '../../platform/telemetry/traces/requests.ts';
import { hopsKey } from '../../turn/turn.ts';
import { retryParams } from '@interlude-ai/core/mcp/rounds.ts';
import { StdioTransport } from '@interlude-ai/core/mcp/stdio/transport.ts';

export interface CallParts {
  server: ServerConfig;
  credential: Credential;
  deadline: Deadline;
  eras: ServerEras;
  /** Set when the call has to be made in this era. Otherwise the era in which the server can ask is used. */
  era?: Era | undefined;
  sessions: OwnerSessions | undefined;
}

export interface CallAttempt {
  outcome: CallOutcome;
  /** The outdated cache entry because of which the server refused the call before anything was done. */
  outdated?: OutdatedCache | undefined;
  /** The era in which the call was made. */
  era?: Era | undefined;
}

/** `connection`: what to do with it. `detached`: it is closed here, but its session goes on at the server. */
interface AttemptEnd extends CallAttempt {
  connection: 'pool' | 'detached' | 'close';
}

interface OpenAttempt extends CallParts {
  call: ToolCall;
  capabilities: Capabilities;
  connection: Connection;
  isPooled: boolean;
  /** The session that was joined instead of a handshake. */
  session: Session | undefined;
  /** Only in the old era, in which the server sends requests of its own. */
  requests: ServerRequests | null;
  messages: ServerMessages;
}

/** `pooled`: a connection of an earlier call, to be used instead of a new one. */
export async function attemptCall(
  parts: CallParts,
  call: ToolCall,
  pooled?: Connection,
): Promise<CallAttempt> {
  const { server, credential, deadline, eras, era, sessions } = parts;
  const { capabilities = cannotAsk, askUser, continuation, onProcessExit } = call;
  const messages = collectMessages(call, () => sessions?.drop(server));
  // The server may know only by the session who has visited its pages.
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
    // With an answer, the server no longer waits for its questions; without one, it is gone.
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
      return { outcome: { kind: 'unaskable', failure: round.failure }, connection: 'close' };
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
      return { outcome: { kind: 'unaskable', failure: end.failure }, connection: 'close' };
    case 'lost':
      return { outcome: outcomeOf(server, traceOf(attempt), capabilities), connection: 'close' };
    default:
      return end satisfies never;
  }
}

/** In the old era, the server will report in the session that its pages are done, if it keeps sessions at all. */
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

/** Whether the session can serve another call: nothing of this one is open. */
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

function collectMessages(call: ToolCall, dropSessions: () => void) {
  const inbox: JSONRPCMessage[] = [];
  let isNotifying = false;
  let haveNewTools = false;
  const listener = {
    ...call,
    onToolsChanged() {
      // Many servers make the list of tools when a session begins.
      haveNewTools = true;
      dropSessions();
      call.onToolsChanged?.();
    },
  };
  return {
    onMessage(message: JSONRPCMessage) {
      if (isNotifying) notifyListener(message, call.callId, listener);
      inbox.push(message);
    },
    /** Notifications are passed on from here: some servers send `tools/list_changed` with every handshake. */
    startNotifying: () => void (isNotifying = true),
    haveNewTools: () => haveNewTools,
    answerTo: (id: unknown) => inbox.find((message) => isAnswer(message) && message.id === id),
  };
}

type ServerMessages = ReturnType<typeof collectMessages>;

function isAnswer(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}

/**
 * A pooled connection may have ended unnoticed. Everything that has reached this machine is delivered within two turns of
 * the event loop. A request on a dead connection would make the outcome of the call unknown.
 */
async function deliverPendingEvents(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Resolves when the call is over, with the reason if a request of the server has ended it early. */
async function sendCall(
  connection: Connection,
  call: ToolCall,
  deadline: Deadline,
  requests: ServerRequests | null,
): Promise<EarlyEnd | undefined> {
  const stopped = new AbortController();
  const sent = send(connection, call, { deadline, requests, stopped: stopped.signal });
  const end = await Promise.race(requests ? [requests.endedEarly, sent] : [sent]);
  // A detached call goes on at its server, without a cancellation.
  if (!end || end.kind === 'detached') return end ?? undefined;
  stopped.abort();
  await sent;
  return end;
}

interface Sending {
  deadline: Deadline;
  requests: ServerRequests | null;
  stopped: AbortSignal;
}

async function send(
  { client, transport, exchanges, server }: Connection,
  call: ToolCall,
  { deadline, requests, stopped }: Sending,
): Promise<void> {
  const lost = new AbortController();
  // The transport of a process closes with it.
  using _watch =
    transport instanceof StdioTransport
      ? undefined
      : watchStream(transport, exchanges, { onEventId: requests?.onEventId, onLost: () => lost.abort() });
  const { name, arguments: input, inputSchema, callId, hops, continuation } = call;
  setMcpAttributes('tools/call', client.getNegotiatedProtocolVersion());
  const params = {
    name,
    arguments: input,
    ...(continuation?.resume.kind === 'retry' &&
      retryParams(continuation.answers, continuation.resume.requestState)),
    _meta: {
      'interlude/callId': callId,
      progressToken: callId,
      ...(hops !== undefined && { [hopsKey]: hops }),
      ...outgoingTrace(server),
    },
  };
  const options = {
    signal: AbortSignal.any([deadline.signal, stopped, lost.signal]),
    timeout: noTimeoutMs,
    allowInputRequired: true as const,
    ...(inputSchema && {
      toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' as const } },
    }),
  };
  await client.callTool(params, options).catch((error: unknown) => {
    // A bug of ours before anything was sent must not pass for a failure of the server.
    if (!exchanges.last('tools/call') && !deadline.end) throw error;
  });
}

/**
 * Watches until disposed. When the response to a call ends without an answer, the SDK waits for its timeout. Its transport
 * reports the end of streams only to callers of `send`; other responses have been read when `send` returns.
 */
function watchStream(
  transport: StreamableHTTPClientTransport,
  exchanges: ExchangeLog,
  { onEventId, onLost }: { onEventId: ((eventId: string) => void) | undefined; onLost: () => void },
): Disposable {
  const original = transport.send;
  transport.send = async (message, options) => {
    const isCall = !Array.isArray(message) && 'method' in message && message.method === 'tools/call';
    if (!isCall) return original.call(transport, message, options);
    await original.call(transport, message, {
      ...options,
      onRequestStreamEnd: onLost,
      ...(onEventId && { onresumptiontoken: onEventId }),
    });
    if (!exchanges.last('tools/call')?.isStream) onLost();
  };
  return { [Symbol.dispose]: () => void (transport.send = original) };
}
