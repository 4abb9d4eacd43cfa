/** Calls one tool of an MCP server: one round of a call, from a request to its answer. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import { cannotAsk } from '../elicitation/capabilities.ts';
import type { Capabilities } from '../elicitation/capabilities.ts';
import { connect } from './connect.ts';
import type { Connection } from './connect.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { forgetEra } from './eras.ts';
import { holdRounds } from './hold-rounds.ts';
import type { Hold } from './hold.ts';
import { listServerTools } from './list.ts';
import { hearNews } from './news.ts';
import type { Listener } from './news.ts';
import type { Pause, QuestionAnswer, Resume, Session } from './pause.ts';
import { resumeServerCall } from './resume.ts';
import { sendCall } from './send-call.ts';
import { staleIn } from './stale.ts';
import type { Stale } from './stale.ts';
import { startTalk } from './talk.ts';
import type { TalkEnd } from './talk.ts';
import { judge, unaskable, unlessItCoped } from './verdict.ts';
import type { CallOutcome, Sighting } from './verdict.ts';
import type { Exchange } from './wire.ts';

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
  stale?: Stale | undefined;
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
  const onLeft = ({ method }: Exchange) => method === 'tools/call' && call.onSent?.();
  const { capabilities = cannotAsk, hold, onReport } = call;
  // Whoever has been to the pages may be known to the session, and to nothing else.
  const session = call.goOn?.resume.kind === 'again' ? call.goOn.resume.session : undefined;
  const target = { server, credential, deadline, capabilities, session, onMessage, onReport, onLeft };
  const opened = await connect(target);
  if (opened.kind !== 'connected') return { outcome: opened };
  const connection = opened;
  const isModern = connection.client.getProtocolEra() === 'modern';
  const talk = isModern ? null : startTalk({ connection, capabilities, deadline, hold });
  const held = server.process && hold ? holdRounds({ server, connection, deadline, hold }) : undefined;
  let isLeft = false;
  let current = call;
  isSent = true;
  try {
    for (;;) {
      const end = await sendCall(connection, current, deadline, talk);
      if (end) return { outcome: await endedBy(end) };
      const sighting = sightingOf(connection, inbox, deadline);
      const outcome = unlessItCoped(server, judge(server, sighting, capabilities), talk?.refused());
      const stale = staleIn(connection, outcome, sighting, session);
      if (outcome.kind !== 'asks' || stale) return { outcome, stale };
      if (!held) return { outcome: isModern ? outcome : await refusedUntilDone(outcome.pause) };
      const round = await held(outcome.pause);
      if (round.kind === 'stopped') return { outcome: { kind: 'unaskable', message: round.message } };
      current = { ...call, goOn: round.goOn };
    }
  } finally {
    // With an answer, it has gone on without waiting any longer; without one, it is not there any more.
    talk?.end(sightingOf(connection, inbox, deadline).answer ? 'server_gave_up' : 'server_gone');
    if (!isLeft) connection.close();
  }

  async function endedBy(end: TalkEnd): Promise<CallOutcome> {
    switch (end.kind) {
      case 'detached':
        await leave();
        return { kind: 'asks', pause: end.pause };
      case 'unaskable':
        return unaskable(server, end.reason);
      case 'stopped':
        return { kind: 'unaskable', message: end.message };
      case 'lost':
        return judge(server, sightingOf(connection, inbox, deadline), capabilities);
      default:
        return end satisfies never;
    }
  }

  /** The session is where the server will say that the pages are done, if it keeps sessions at all. */
  async function refusedUntilDone(pause: Pause): Promise<CallOutcome> {
    const own = sessionOf(connection);
    if (own) await leave();
    return { kind: 'asks', pause: { ...pause, resume: { kind: 'again', ...(own && { session: own }) } } };
  }

  async function leave(): Promise<void> {
    isLeft = true;
    await connection.detach();
  }
}

function sessionOf({ transport }: Connection): Session | undefined {
  const { sessionId, protocolVersion } = transport;
  return sessionId !== undefined && protocolVersion !== undefined
    ? { sessionId, protocolVersion }
    : undefined;
}

function sightingOf({ wire }: Connection, inbox: JSONRPCMessage[], { end }: Deadline): Sighting {
  const exchange = wire.last('tools/call');
  const answer = inbox.find(
    (message) => isAnswer(message) && exchange !== undefined && message.id === exchange.id,
  );
  return { exchange, answer, end };
}

function isAnswer(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}
