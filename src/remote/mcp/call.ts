/** Calls one tool of an MCP server: one round of a call, from a request to its answer. */
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import { attempt } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { startDeadline } from '../deadline.ts';
import type { Deadline } from '../deadline.ts';
import { forgetEra } from './era-cache.ts';
import type { Hold } from './legacy/held-questions.ts';
import type { OwnSessions } from './legacy/session-pool.ts';
import { listServerTools } from './list-tools.ts';
import type { Listener } from './notifications.ts';
import type { QuestionAnswer, Resume } from '../input-required.ts';
import { resumeServerCall } from './legacy/resume-call.ts';
import type { CallOutcome } from './call-outcome.ts';

export type { CallOutcome } from './call-outcome.ts';

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
  /** Sessions that calls of the same owner left behind; without them, every call opens one of its own. */
  sessions?: OwnSessions;
  signal: AbortSignal;
  /** Whether somebody else goes on with a call that was taken up again, once `signal` has ended it here. */
  isHandedOn?(): boolean;
}

/**
 * Never rejects for anything the server or the network does: every end is an outcome. The request is sent at most
 * once, except where the server turned down the first one for speaking another protocol version, for lacking headers
 * that its tool asks for by now, or in a session that it does not know any more.
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
  const first = await firstAttempt(server, credential, call, deadline);
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

/** In a session that was kept, if there is one and it is still worth something. */
async function firstAttempt(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
  deadline: Deadline,
): Promise<Attempt> {
  const { sessions, goOn, capabilities = cannotAsk } = call;
  // One that goes on in a session of its own joins that.
  const joins = goOn?.resume.kind === 'again' && goOn.resume.session !== undefined;
  const kept = joins ? undefined : sessions?.take({ server, credential, capabilities });
  const first = kept && (await attempt(server, credential, call, deadline, kept));
  if (first?.stale === 'kept') sessions?.drop(server);
  return first && first.stale !== 'kept' ? first : attempt(server, credential, call, deadline);
}
