/** Calls one tool of an MCP server: one round of a call, from a request to its answer. */
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import { cannotAsk } from '../elicitation/capabilities.ts';
import type { Capabilities } from '../elicitation/capabilities.ts';
import { connect, mayHaveChanged, noTimeoutMs } from './connect.ts';
import type { Connection } from './connect.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { forgetEra } from './eras.ts';
import { holdRounds } from './hold-rounds.ts';
import type { Hold } from './hold.ts';
import { retryParams } from './input-required.ts';
import { listServerTools } from './list.ts';
import { hearNews } from './news.ts';
import type { Listener } from './news.ts';
import type { QuestionAnswer, Resume, Session } from './pause.ts';
import { resumeServerCall } from './resume.ts';
import { StdioTransport } from './stdio-transport.ts';
import { startTalk } from './talk.ts';
import type { Talk, TalkEnd } from './talk.ts';
import { judge, unaskable, unlessItCoped } from './verdict.ts';
import type { CallOutcome, Sighting } from './verdict.ts';
import type { Exchange, Wire } from './wire.ts';

export type { CallOutcome } from './verdict.ts';

export interface ServerToolCall extends Listener {
  name: string;
  arguments: Record<string, unknown>;
  /** The tool's, as its server listed it: arguments that are marked there go out as headers too. */
  inputSchema?: Record<string, unknown>;
  /**
   * Sent along as `_meta["interlude/callId"]`, so that a server can recognise a repeated call, and as the token under
   * which it may tell how far the call has come.
   */
  callId: string;
  /** What the server may ask the user with; without them it may not ask. */
  capabilities?: Capabilities;
  /** A later round: what was answered, and how the call goes on. */
  goOn?: { resume: Resume; answers: QuestionAnswer[] } | undefined;
  /** Asks the user while the connection stays open; for servers that leave no other way. */
  hold?: Hold;
  signal: AbortSignal;
  /** Whether somebody else goes on with a call that was taken up again, once `signal` has ended it here. */
  isHandedOn?(): boolean;
}

/**
 * Never rejects for anything the server or the network does: every end is an outcome. The request is sent at most
 * once, except where the server turned down the first one for speaking another protocol version, or for lacking
 * headers that its tool asks for by now.
 */
export async function callServerTool(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
): Promise<CallOutcome> {
  const { goOn } = call;
  if (goOn?.resume.kind === 'detached')
    return resumeServerCall(server, credential, call, { call: goOn.resume.call, answers: goOn.answers });
  using deadline = startDeadline(server.timeout, call.signal);
  const first = await attempt(server, credential, call, deadline);
  switch (first.stale) {
    case 'era':
      forgetEra(server);
      return (await attempt(server, credential, call, deadline)).outcome;
    case 'schema': {
      const listed = await listServerTools(server, credential, deadline.signal);
      const tool = listed.kind === 'tools' && listed.tools.find(({ name }) => name === call.name);
      if (!tool) return first.outcome;
      const { inputSchema } = tool;
      return (await attempt(server, credential, { ...call, inputSchema }, deadline)).outcome;
    }
    case 'session':
      return (await attempt(server, credential, { ...call, goOn: undefined }, deadline)).outcome;
    default:
      return first.outcome;
  }
}

interface Attempt {
  outcome: CallOutcome;
  /** What was remembered of the server and made it turn the call down. */
  stale?: 'era' | 'schema' | 'session';
}

async function attempt(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
  deadline: Deadline,
): Promise<Attempt> {
  const inbox: JSONRPCMessage[] = [];
  let isSent = false;
  const onMessage = (message: JSONRPCMessage) => {
    // Some servers tell everybody they greet that their tools have changed.
    if (isSent) hearNews(message, call.callId, call);
    inbox.push(message);
  };
  const { capabilities = cannotAsk, hold, onReport } = call;
  // Whoever has been to the pages may be known to the session, and to nothing else.
  const session = call.goOn?.resume.kind === 'again' ? call.goOn.resume.session : undefined;
  const target = { server, credential, deadline, capabilities, session, onMessage, onReport };
  const connection = await connect(target);
  if (connection.kind !== 'connected') return { outcome: connection };
  const isModern = connection.client.getProtocolEra() === 'modern';
  const talk = isModern ? null : startTalk({ connection, capabilities, deadline, hold });
  const held = server.process && hold ? holdRounds({ server, connection, deadline, hold }) : undefined;
  let isDetached = false;
  let current = call;
  isSent = true;
  try {
    for (;;) {
      const end = await sendAndTalk(connection, current, deadline, talk);
      if (end?.kind === 'detached') {
        isDetached = true;
        await connection.detach();
        return { outcome: { kind: 'asks', pause: end.pause } };
      }
      if (end?.kind === 'unaskable') return { outcome: unaskable(server, end.reason) };
      if (end?.kind === 'stopped') return { outcome: { kind: 'unaskable', message: end.message } };
      const exchange = connection.wire.last('tools/call');
      const answer = answerIn(inbox, exchange);
      const sighting: Sighting = { exchange, answer, end: deadline.end };
      const outcome = unlessItCoped(server, judge(server, sighting, capabilities), talk?.refused());
      if (deadline.end) return { outcome };
      if (connection.fromMemory && speaksAnotherEra(outcome, sighting)) return { outcome, stale: 'era' };
      if (isModern && lacksHeaders(sighting)) return { outcome, stale: 'schema' };
      if (session && isForgotten(sighting)) return { outcome, stale: 'session' };
      if (held && outcome.kind === 'asks') {
        const round = await held(outcome.pause);
        if (round.kind === 'stopped') return { outcome: { kind: 'unaskable', message: round.message } };
        current = { ...call, goOn: round.goOn };
        continue;
      }
      if (isModern || outcome.kind !== 'asks') return { outcome };
      const own = sessionOf(connection);
      isDetached = own !== undefined;
      if (own) await connection.detach();
      return {
        outcome: {
          kind: 'asks',
          pause: { ...outcome.pause, resume: { kind: 'again', ...(own && { session: own }) } },
        },
      };
    }
  } finally {
    // With an answer, it has gone on without waiting any longer; without one, it is not there any more.
    talk?.end(answerIn(inbox, connection.wire.last('tools/call')) ? 'server_gave_up' : 'server_gone');
    if (!isDetached) connection.close();
  }
}

/** Resolves when the call is over, or the server's talk has put an end to it. */
async function sendAndTalk(
  connection: Connection,
  call: ServerToolCall,
  deadline: Deadline,
  talk: Talk | null,
): Promise<TalkEnd | undefined> {
  const stopped = new AbortController();
  const sent = send(connection, call, { deadline, talk, stopped: stopped.signal });
  const end = await Promise.race(talk ? [talk.ended, sent] : [sent]);
  // A detached call goes on at its server: nothing is said to it.
  if (!end || end.kind === 'detached') return end ?? undefined;
  stopped.abort();
  await sent;
  return end;
}

/** Where the server will say that the pages are done, if it keeps sessions at all. */
function sessionOf({ transport }: Connection): Session | undefined {
  const { sessionId, protocolVersion } = transport;
  return sessionId !== undefined && protocolVersion !== undefined
    ? { sessionId, protocolVersion }
    : undefined;
}

const unsupportedVersion = -32022;
const headerMismatch = -32020;

/** Older servers may mean anything by this code. */
function lacksHeaders({ answer }: Sighting): boolean {
  return answer !== undefined && 'error' in answer && answer.error.code === headerMismatch;
}

/** The session was not known any more, so nothing was done in it. */
function isForgotten({ exchange, answer }: Sighting): boolean {
  return exchange?.status === 404 || (exchange?.status === 400 && answer === undefined);
}

/** Only where the call was certainly not executed, so that it can be made again. */
function speaksAnotherEra({ kind }: CallOutcome, { exchange, answer }: Sighting): boolean {
  if (kind !== 'rejected' && kind !== 'unreachable') return false;
  if (answer) return 'error' in answer && answer.error.code === unsupportedVersion;
  return mayHaveChanged(exchange?.status);
}

/** Resolves when the call is over, one way or another. How it ended is read from the wire, not from the SDK's errors. */
async function send(
  { client, transport, wire }: Connection,
  call: ServerToolCall,
  { deadline, talk, stopped }: { deadline: Deadline; talk: Talk | null; stopped: AbortSignal },
): Promise<void> {
  const lost = new AbortController();
  // A process is its own stream: when it is gone, everybody hears of it.
  if (!(transport instanceof StdioTransport))
    watchStream(transport, wire, { seen: talk?.seen, lost: () => lost.abort() });
  const { name, arguments: input, inputSchema, callId, goOn } = call;
  const params = {
    name,
    arguments: input,
    ...(goOn?.resume.kind === 'retry' && retryParams(goOn.answers, goOn.resume.requestState)),
    _meta: { 'interlude/callId': callId, progressToken: callId },
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
    // A fault of ours before anything was sent must not pass for trouble of the server's.
    if (!wire.last('tools/call') && !deadline.end) throw error;
  });
}

/**
 * The SDK waits for its timeout when a call's response ends without an answer. For streams its transport reports
 * the end, but only to callers of `send`; other responses have been read by the time `send` returns.
 */
function watchStream(
  transport: StreamableHTTPClientTransport,
  wire: Wire,
  { seen, lost }: { seen: ((eventId: string) => void) | undefined; lost: () => void },
): void {
  const original = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const isCall = !Array.isArray(message) && 'method' in message && message.method === 'tools/call';
    if (!isCall) return original(message, options);
    const watched = { ...options, onRequestStreamEnd: lost, ...(seen && { onresumptiontoken: seen }) };
    await original(message, watched);
    if (!wire.last('tools/call')?.isStream) lost();
  };
}

function answerIn(inbox: JSONRPCMessage[], exchange: Exchange | undefined): JSONRPCMessage | undefined {
  return inbox.find((message) => isAnswer(message) && exchange !== undefined && message.id === exchange.id);
}

function isAnswer(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}
