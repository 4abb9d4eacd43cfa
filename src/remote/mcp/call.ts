/**
 * One round of a call to a tool of an MCP server. The request is sent at most once, with these exceptions: the server
 * refused the first one because of the protocol version, missing headers that its tool now requires, or an unknown session;
 * or the tool may be repeated and could not ask.
 */
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import { startDeadline } from '../deadline.ts';
import type { CallOutcome, Continuation, ToolCall } from '../remote-servers.ts';
import { attemptCall } from './call-attempt.ts';
import type { CallAttempt, CallParts } from './call-attempt.ts';
import { canPush, connect } from './connect.ts';
import { resumeServerCall } from './legacy/resume-call.ts';
import type { OwnerSessions } from './legacy/session-pool.ts';
import { outcomeWith } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import { listServerTools } from './list-tools.ts';
import { fixedEra } from './server-eras.ts';
import type { Era, ServerEras } from './server-eras.ts';

interface Memory {
  eras: ServerEras;
  /** The sessions of the user who makes the call. */
  sessions: OwnerSessions | undefined;
}

export async function callServerTool(
  server: ServerConfig,
  credential: Credential,
  call: ToolCall,
  { eras, sessions }: Memory,
): Promise<CallOutcome> {
  const { continuation } = call;
  if (continuation?.resume.kind === 'detached') {
    const { resume, answers } = continuation;
    return resumeServerCall(server, credential, call, { call: resume.call, answers });
  }
  using deadline = startDeadline(server.timeout, call.signal);
  const parts: CallParts = { server, credential, deadline, eras, sessions, era: eraOf(continuation) };
  return await confirmRefusal(parts, await callOnce(parts, call));
}

/**
 * An answer that leaves open whether the tool ran, such as an HTML page, refuses the account only if other requests get the
 * same.
 */
async function confirmRefusal(
  { server, credential, deadline, eras }: Omit<CallParts, 'sessions'>,
  outcome: CallOutcome,
): Promise<CallOutcome> {
  if (outcome.kind !== 'refused' || outcome.otherwise?.kind !== 'unknown') return outcome;
  const listed = await listServerTools(server, credential, deadline.signal, { eras });
  return listed.kind === 'refused' ? outcome : outcome.otherwise;
}

async function callOnce(parts: CallParts, call: ToolCall): Promise<CallOutcome> {
  const { server, credential, deadline, eras } = parts;
  const first = await firstAttempt(parts, call);
  switch (first.outdated) {
    case undefined:
      return first.outcome;
    case 'era':
      eras.changed(server);
      return (await attemptCall(parts, call)).outcome;
    case 'cannot-ask':
      return await learnEra(parts, call, first);
    case 'schema': {
      const listed = await listServerTools(server, credential, deadline.signal, { eras });
      const tool = listed.kind === 'tools' && listed.tools.find(({ name }) => name === call.name);
      if (!tool) return first.outcome;
      return (await attemptCall(parts, { ...call, inputSchema: tool.inputSchema })).outcome;
    }
    case 'session':
      return (await attemptCall(parts, { ...call, continuation: undefined })).outcome;
    case 'pooled-session':
      return first.outcome;
    default:
      return first.outdated satisfies never;
  }
}

/** Later rounds of a call stay in its era. */
function eraOf(continuation: Continuation | undefined): Era | undefined {
  switch (continuation?.resume.kind) {
    case 'retry':
      return 'modern';
    case 'again':
      return 'legacy';
    default:
      return undefined;
  }
}

/** In a pooled session, if there is one. If it turns out to be gone, the call is made again at once in a new one. */
async function firstAttempt(parts: CallParts, call: ToolCall): Promise<CallAttempt> {
  const { server, credential, sessions, eras } = parts;
  const { continuation, capabilities = cannotAsk } = call;
  const joinsSession = continuation?.resume.kind === 'again' && continuation.resume.session !== undefined;
  const canAsk = capabilities.form || capabilities.url;
  const isModern =
    (parts.era ?? (canAsk ? await eras.wanted(server, call.name) : fixedEra(server))) === 'modern';
  const pooled = joinsSession || isModern ? undefined : sessions?.take({ server, credential, capabilities });
  if (!pooled) return attemptCall(parts, call);
  const first = await attemptCall(parts, call, pooled);
  if (first.outdated !== 'pooled-session') return first;
  sessions?.drop(server);
  return attemptCall(parts, call);
}

/**
 * The server could not ask in this era. If it can in the other one, it is called there from now on. This call is only
 * repeated if its tool allows it, because the tool has run up to its question.
 */
async function learnEra(parts: CallParts, call: ToolCall, failed: CallAttempt): Promise<CallOutcome> {
  const { server, eras, sessions } = parts;
  const { capabilities = cannotAsk, name, isRepeatable } = call;
  const canAsk = capabilities.form || capabilities.url;
  if (!canAsk || call.continuation || !failed.era || fixedEra(server)) return failed.outcome;
  const era = failed.era === 'modern' ? 'legacy' : 'modern';
  const probe = await connect({ ...parts, era, capabilities, makesNoCalls: true });
  if (probe.kind !== 'connected') return failed.outcome;
  probe.close();
  const isThere = probe.client.getProtocolEra() === era && (era === 'modern' || canPush(probe));
  if (!isThere) return failed.outcome;
  await eras.learn(server, name, era, probe.client);
  sessions?.drop(server);
  if (isRepeatable === true) return (await attemptCall({ ...parts, era }, call)).outcome;
  const versions = { modern: '2026-07-28', legacy: '2025-11-25' };
  const was = versions[failed.era];
  const now = versions[era];
  return outcomeWith('unknown', { code: 'era_learned', server: nameOf(server), was, now });
}
