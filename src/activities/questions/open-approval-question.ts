/** Asks a user to approve a tool call, with the arguments as they stand in the call's row. */
import { shownArguments } from '../../elicitation/approval.ts';
import type { ElicitationRequest } from '../../elicitation/elicitation.ts';
import { approvalMessage } from '../../elicitation/approval-wording.ts';
import type { ApprovalAsk, NewQuestion, OpenResult } from '../../turn/ask.ts';
import { requestedToolCall } from '../tool-results.ts';
import { contextOf, openQuestion, serverOf } from './open-question.ts';
import type { QuestionParts } from './open-question.ts';

export async function openApprovalQuestion(
  parts: QuestionParts,
  input: NewQuestion<ApprovalAsk>,
): Promise<OpenResult> {
  const { turn, ask } = input;
  const { server: name, tool, toolCallId } = ask;
  const server = serverOf(parts, name);
  const call = await requestedToolCall(parts.storage, turn, toolCallId);
  const context = contextOf(parts, server, turn);
  const request: ElicitationRequest = {
    mode: 'form',
    message: approvalMessage(context.agent ?? turn.agent, server.title, tool),
    requestedSchema: { type: 'object', properties: {} },
    context: {
      ...context,
      trigger: 'approval',
      toolName: tool,
      toolCallId,
      arguments: shownArguments(call.input),
    },
  };
  return openQuestion(parts, input, { request, server: null, seenVersion: null }, undefined);
}
