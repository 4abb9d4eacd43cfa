/** Puts a model's own question to the user, as its tool call has it. */
import type { Context } from '../../elicitation/elicitation.ts';
import type { ModelAsk, NewQuestion, OpenResult } from '../../turn/ask.ts';
import { askUserTool, readModelQuestion } from '../call-model/question-tool.ts';
import { requestedToolCall } from '../tool-results.ts';
import { agentContext, openQuestion } from './open-question.ts';
import type { QuestionParts } from './open-question.ts';

export async function openModelQuestion(
  parts: QuestionParts,
  input: NewQuestion<ModelAsk>,
): Promise<OpenResult> {
  const { turn, ask } = input;
  const call = await requestedToolCall(parts.storage, turn, ask.toolCallId);
  const read = readModelQuestion(call.input);
  // Checked when the model asked; other rules may hold since.
  if (read.kind === 'refused') return { kind: 'call-ended' };
  const context: Context = {
    ...agentContext(parts, turn),
    trigger: 'model_question',
    toolName: askUserTool,
    toolCallId: ask.toolCallId,
  };
  const request = { mode: 'form' as const, ...read.question, context };
  return openQuestion(parts, input, { request, server: null, seenVersion: null }, undefined);
}
