/**
 * One round of a call to a tool of an MCP server, from a request to its answer. The request is sent at most once, except
 * where the server turned down the first one for speaking another protocol version, for lacking headers that its tool asks
 * for by now, or in a session that it does not know any more; and where a tool that may be repeated could not ask.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import { startDeadline } from '../deadline.ts';
import type { CallOutcome, Continuation, ToolCall } from '../tool-call.ts';
import { attemptCall } from './call-attempt.ts';
import type { AttemptResult, CallParts } from './call-attempt.ts';
import { canPush, connect } from './connect.ts';
import { resumeServerCall } from './legacy/resume-call.ts';
import type { OwnerSessions } from './legacy/session-pool.ts';
import { nameOf } from '../server-name.ts';
import { listServerTools } from './list-tools.ts';
import { fixedEra } from './server-eras.ts';
import type { Era, ServerEras } from './server-eras.ts';

/** What is remembered between calls. */
interface Memory {
  eras: ServerEras;
  /** Those of the call's owner. */
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
  return await withoutDoubt(parts, await callOnce(parts, call));
}

/**
 * An answer that leaves open whether the tool ran, as a page does, is about the account only if other requests get the like.
 */
async function withoutDoubt(
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

/** A call that has had a round is called again in the same era. */
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

/** In a session of the pool, if there is one; a pooled session that turns out to be gone is replaced at once. */
async function firstAttempt(parts: CallParts, call: ToolCall): Promise<AttemptResult> {
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
 * The server could not ask in this era. If it can in the other one, it is called there from now on. This call is made again
 * only if it may be: the tool has run up to its question.
 */
async function learnEra(parts: CallParts, call: ToolCall, failed: AttemptResult): Promise<CallOutcome> {
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
  const [was, is] = era === 'legacy' ? ['2026-07-28', '2025-11-25'] : ['2025-11-25', '2026-07-28'];
  const message = `${nameOf(server)} had to ask the user something, which it cannot do in the MCP version it was called with (${was}). From now on it is called with ${is}, where it can: another call will ask.`;
  return { kind: 'unknown', message };
}
