/**
 * One attempt at one round of a call: a connection, the request, what the server says meanwhile, and what became of it.
 */
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { ServerToolCall } from './call.ts';
import { connect } from './connect.ts';
import type { Connection } from './connect.ts';
import type { Deadline } from '../deadline.ts';
import { holdRounds } from './stdio/held-rounds.ts';
import { hearNews } from './notifications.ts';
import type { Pause, Session } from '../input-required.ts';
import { sendCall } from './send-call.ts';
import { isKeptInVain, staleIn } from './outdated-cache.ts';
import type { Stale } from './outdated-cache.ts';
import { startTalk } from './legacy/server-requests.ts';
import type { TalkEnd } from './legacy/server-requests.ts';
import { judge, unaskable, unlessItCoped } from './call-outcome.ts';
import type { CallOutcome, Sighting } from './call-outcome.ts';
import type { Exchange } from './tracked-fetch.ts';

export interface Attempt {
  outcome: CallOutcome;
  stale?: Stale | undefined;
}

/** `kept`: of an earlier call; otherwise a connection is made. */
export async function attempt(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
  deadline: Deadline,
  kept?: Connection,
): Promise<Attempt> {
  const inbox: JSONRPCMessage[] = [];
  let isSent = false;
  let hasNewTools = false;
  const onMessage = (message: JSONRPCMessage) => {
    // Some servers tell everybody they greet that their tools have changed.
    if (isSent) hearNews(message, call.callId, listener);
    inbox.push(message);
  };
  const listener = {
    ...call,
    onToolsChanged() {
      // Many servers have a list of tools for each session, which was made when the session began.
      hasNewTools = true;
      call.sessions?.drop(server);
      call.onToolsChanged?.();
    },
  };
  const onLeft = ({ method }: Exchange) => method === 'tools/call' && call.onSent?.();
  const { capabilities = cannotAsk, hold, onReport } = call;
  // Whoever has been to the pages may be known to the session, and to nothing else.
  const session = call.goOn?.resume.kind === 'again' ? call.goOn.resume.session : undefined;
  const target = { server, credential, deadline, capabilities, session, onMessage, onReport, onLeft };
  kept?.serve(target);
  const opened = kept ?? (await connect(target));
  if (opened.kind !== 'connected') return { outcome: opened };
  const connection = opened;
  if (connection.wire.last() === undefined) await hearEnds();
  const isModern = connection.client.getProtocolEra() === 'modern';
  const talk = isModern ? null : startTalk({ connection, capabilities, deadline, hold });
  const held = server.process && hold ? holdRounds({ server, connection, deadline, hold }) : undefined;
  let isLeft = false;
  let canServeAgain = false;
  let current = call;
  isSent = true;
  try {
    for (;;) {
      const end = await sendCall(connection, current, deadline, talk);
      if (end) return { outcome: await endedBy(end) };
      const sighting = sightingOf(connection, inbox, deadline);
      const outcome = unlessItCoped(server, judge(server, sighting, capabilities), talk?.refused());
      if (kept && isKeptInVain(outcome, sighting)) return { outcome, stale: 'kept' };
      const stale = staleIn(connection, outcome, sighting, session);
      const isClear = talk?.isClear() === true && session === undefined && !hasNewTools;
      canServeAgain = outcome.kind === 'result' && isClear;
      if (outcome.kind !== 'asks' || stale) return { outcome, stale };
      if (!held) return { outcome: isModern ? outcome : await refusedUntilDone(outcome.pause) };
      const round = await held(outcome.pause);
      if (round.kind === 'stopped') return { outcome: { kind: 'unaskable', message: round.message } };
      current = { ...call, goOn: round.goOn };
    }
  } finally {
    // With an answer, it has gone on without waiting any longer; without one, it is not there any more.
    talk?.end(sightingOf(connection, inbox, deadline).answer ? 'server_gave_up' : 'server_gone');
    if (canServeAgain && call.sessions) call.sessions.keep({ server, credential, capabilities }, connection);
    else if (!isLeft) connection.close();
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

/**
 * Nothing was said to the server for this call yet, so it may have gone unnoticed. Whatever has reached this machine is
 * heard within two turns of the event loop: a request on a connection that has ended would leave the call unknown.
 */
async function hearEnds(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
