/** Sends one request of a tool call, and hears what the server says until there is an outcome. Decides nothing. */
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { CallOutcome } from '../../remote/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { isWorkerShuttingDown, stopSignal } from '../stop-signal.ts';
import { createQuestionsDuringCall } from './ask-during-call.ts';
import type { CallServerParts, ServerAttempt, ToolRequest } from './attempt.ts';
import { createCallNotifications } from './call-notifications.ts';

export interface SentRequest {
  outcome: CallOutcome;
  /** The server has asked something while the connection was open. */
  hasAsked: boolean;
}

export async function sendRequest(
  parts: CallServerParts,
  attempt: ServerAttempt,
  { credential, continuation }: ToolRequest,
): Promise<SentRequest> {
  const { input, call, known, server, tool } = attempt;
  const { turn, toolCallId } = input;
  const questions = createQuestionsDuringCall(parts, attempt);
  const notifications = createCallNotifications(parts, attempt, credential);
  const outcome = await parts.remote.callTool(server, credential, {
    name: tool,
    arguments: call.input as Record<string, unknown>,
    ...(known && { inputSchema: known.inputSchema }),
    callId: `${turn.turnId}/${toolCallId}`,
    hops: (turn.hops ?? 0) + (turn.delegation?.path.length ?? 0) + 1,
    capabilities: turn.user === null ? cannotAsk : turn.capabilities,
    ...(continuation && { continuation }),
    askUser: questions,
    owner: ownerOf(turn),
    ...notifications.listener,
    signal: stopSignal(),
    isHandedOn: isWorkerShuttingDown,
  });
  await notifications.settled();
  await questions.updatesSent();
  return { outcome, hasAsked: questions.hasAsked() };
}

/** Whose sessions at servers a call may use. Nobody knows for how many people a service works: it has a conversation's. */
function ownerOf({ tenant, user, conversation }: Turn): string {
  return JSON.stringify(user === null ? { tenant, conversation } : { tenant, user });
}
