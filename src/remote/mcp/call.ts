/**
 * One round of a call to a tool of an MCP server, from a request to its answer. The request is sent at most once, except
 * where the server turned down the first one for speaking another protocol version, for lacking headers that its tool asks
 * for by now, or in a session that it does not know any more.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import { startDeadline } from '../deadline.ts';
import type { CallOutcome, ToolCall } from '../tool-call.ts';
import { attemptCall } from './call-attempt.ts';
import type { AttemptResult, CallParts } from './call-attempt.ts';
import type { EraCache } from './era-cache.ts';
import { resumeServerCall } from './legacy/resume-call.ts';
import type { OwnerSessions } from './legacy/session-pool.ts';
import { listServerTools } from './list-tools.ts';

/** What is remembered between calls. */
interface Memory {
  eras: EraCache;
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
  const parts: CallParts = { server, credential, deadline, eras, sessions };
  const first = await firstAttempt(parts, call);
  switch (first.outdated) {
    case undefined:
      return first.outcome;
    case 'era':
      eras.delete(server);
      return (await attemptCall(parts, call)).outcome;
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

/** In a session of the pool, if there is one; a pooled session that turns out to be gone is replaced at once. */
async function firstAttempt(parts: CallParts, call: ToolCall): Promise<AttemptResult> {
  const { server, credential, sessions } = parts;
  const { continuation, capabilities = cannotAsk } = call;
  const joinsSession = continuation?.resume.kind === 'again' && continuation.resume.session !== undefined;
  const pooled = joinsSession ? undefined : sessions?.take({ server, credential, capabilities });
  if (!pooled) return attemptCall(parts, call);
  const first = await attemptCall(parts, call, pooled);
  if (first.outdated !== 'pooled-session') return first;
  sessions?.drop(server);
  return attemptCall(parts, call);
}
