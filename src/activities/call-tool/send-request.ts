/** Sends one request of a tool call, and hears what the server says until there is an outcome. Decides nothing. */
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { RemoteTask } from '../../remote/input-required.ts';
import type { CallOutcome } from '../../remote/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { isWorkerShuttingDown, stopSignal } from '../stop-signal.ts';
import { createQuestionsDuringCall } from './ask-during-call.ts';
import type { CallServerParts, ServerAttempt, ToolRequest } from './attempt.ts';
import { createCallNotifications } from './call-notifications.ts';
import { toRound } from './rounds.ts';

export interface SentRequest {
  outcome: CallOutcome;
  /** The server has asked something while the connection was open. */
  hasAsked: boolean;
  /** What a remote agent has begun in this request. */
  task?: RemoteTask;
}

export async function sendRequest(
  parts: CallServerParts,
  attempt: ServerAttempt,
  { credential, continuation, mayBeSent }: ToolRequest & { mayBeSent: boolean },
): Promise<SentRequest> {
  const { input, call, known, server, tool } = attempt;
  const { turn, toolCallId } = input;
  const questions = createQuestionsDuringCall(parts, attempt);
  const notifications = createCallNotifications(parts, attempt, credential);
  let begun: RemoteTask | undefined;
  const outcome = await parts.remote.callTool(server, credential, {
    name: tool,
    arguments: call.input as Record<string, unknown>,
    ...(known && { inputSchema: known.inputSchema }),
    callId: `${turn.turnId}/${toolCallId}`,
    hops: (turn.hops ?? 0) + (turn.delegation?.path.length ?? 0) + 1,
    capabilities: turn.user === null ? cannotAsk : turn.capabilities,
    ...(continuation && { continuation }),
    askUser: questions,
    mayBeSent,
    async keepTask(task) {
      begun = task;
      const before = await parts.rounds.list(turn, toolCallId);
      const round = toRound({ questions: [], resume: { kind: 'task', task } });
      return (await parts.rounds.keep(turn, toolCallId, before, round, attempt.by)) !== null;
    },
    owner: ownerOf(turn),
    ...notifications.listener,
    signal: stopSignal(),
    isHandedOn: isWorkerShuttingDown,
  });
  await notifications.settled();
  await questions.updatesSent();
  return { outcome, hasAsked: questions.hasAsked(), ...(begun && { task: begun }) };
}

/** Whose sessions at servers a call may use. Nobody knows for how many people a service works: it has a conversation's. */
function ownerOf({ tenant, user, conversation }: Turn): string {
  return JSON.stringify(user === null ? { tenant, conversation } : { tenant, user });
}
