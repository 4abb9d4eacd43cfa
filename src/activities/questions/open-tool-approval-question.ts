/** Asks a user to approve a call of a tool in TypeScript, with the arguments as they stand in the call's row. */
import { shownArguments } from '../../elicitation/approval.ts';
import { toolApprovalMessage } from '../../elicitation/approval-wording.ts';
import type { ElicitationRequest } from '../../elicitation/elicitation.ts';
import type { NewQuestion, OpenResult, ToolApprovalAsk } from '../../turn/ask.ts';
import { requestedToolCall } from '../tool-results.ts';
import { agentContext, openQuestion } from './open-question.ts';
import type { QuestionParts } from './open-question.ts';

export async function openToolApprovalQuestion(
  parts: QuestionParts,
  input: NewQuestion<ToolApprovalAsk>,
): Promise<OpenResult> {
  const { turn, ask } = input;
  const { tool: toolName, toolCallId } = ask;
  const call = await requestedToolCall(parts.storage, turn, toolCallId);
  const context = agentContext(parts, turn);
  const request: ElicitationRequest = {
    mode: 'form',
    message: toolApprovalMessage(context.agent ?? turn.agent, toolName),
    requestedSchema: { type: 'object', properties: {} },
    context: {
      ...context,
      trigger: 'approval',
      toolName,
      toolCallId,
      arguments: shownArguments(call.input),
    },
  };
  return openQuestion(parts, input, { request, server: null, seenVersion: null }, undefined);
}
