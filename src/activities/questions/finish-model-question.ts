/** What the model reads of the question that it asked. */
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { Settlement } from '../../elicitation/elicitation.ts';
import { questionAsText } from '../../elicitation/question-as-text.ts';
import { modelQuestionForModel } from '../../elicitation/model-question.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AskResult } from '../../turn/ask.ts';
import type { ToolResult } from '../../turn/tool-result.ts';
import type { Turn } from '../../turn/turn.ts';
import { answerContent } from './answer-content.ts';
import { readModelQuestion } from '../call-model/question-tool.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';

interface Dependencies {
  storage: Pick<Storage, 'toolCalls' | 'elicitations'>;
  keys: KeyRing;
}

export interface EndedModelQuestion {
  turn: Turn;
  toolCallId: string;
  elicitationId: string;
  /** Of the answer that counts; null where there is none. */
  responseId: string | null;
  result: AskResult | 'no-user' | 'limit-reached';
  /** Of questions: to be written before anything else. */
  outcomes: Settlement[];
}

export function createFinishModelQuestion(parts: Dependencies) {
  return { finishModelQuestion: (ended: EndedModelQuestion) => finishModelQuestion(parts, ended) };
}

async function finishModelQuestion(parts: Dependencies, ended: EndedModelQuestion): Promise<void> {
  const { storage } = parts;
  await storage.elicitations.settleAll(ended.outcomes);
  const call = await requestedToolCall(storage, ended.turn, ended.toolCallId);
  await finishToolCall(storage, ended.turn, call, await resultOf(parts, ended, call.input));
}

async function resultOf(parts: Dependencies, ended: EndedModelQuestion, input: unknown): Promise<ToolResult> {
  const { elicitationId, responseId, result } = ended;
  if (result !== 'accept') {
    const read = readModelQuestion(input);
    const asText = read.kind === 'question' ? questionAsText({ mode: 'form', ...read.question }) : '';
    return { kind: 'error', text: modelQuestionForModel(result, asText) };
  }
  const content = await answerContent(parts, elicitationId, responseId);
  if (!content) throw new Error(`The answer to question ${elicitationId} is not in the database.`);
  return {
    kind: 'output',
    output: { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content },
  };
}
