/** The questions of a tool in TypeScript: opened as its author wrote them, and read when they are settled. */
import { canPresent } from '../../elicitation/capabilities.ts';
import type { Context, Outcome } from '../../elicitation/elicitation.ts';
import { warningsAbout } from '../../elicitation/url-safety.ts';
import type { Storage } from '../../storage/storage.ts';
import { answerTookEffect } from '../../telemetry/metrics/instruments.ts';
import type { AskedQuestion, NotAsked, ToolRequest } from '../../turn/ask.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { requestedToolCall } from '../tool-results.ts';
import { agentContext, answerContent, expireOverdue, openQuestions, toAsked } from './questions.ts';
import type { AskingCall, Question, QuestionParts } from './questions.ts';

export interface ToolQuestionInput extends AskingCall {
  /** The author may have chosen it. */
  elicitationId: string;
  /** Counts the questions of the call. */
  index: number;
  request: ToolRequest;
  timeoutMs?: number;
}

export type OpenedToolQuestion =
  /** Its id may be another one: after a reset of the workflow it is the one that was there before. */
  | { kind: 'asked'; question: AskedQuestion }
  | { kind: 'not-asked'; why: NotAsked | 'cancel' | 'page-cannot-report' | 'id-was-used' };

export type ToolAnswer =
  | { kind: 'asks'; questions: AskedQuestion[] }
  /** `content`: of a form that was accepted. */
  | { kind: 'settled'; outcome: Outcome; content?: unknown };

export function createToolQuestionActivities(parts: QuestionParts & { storage: Pick<Storage, 'now'> }) {
  const { elicitations } = parts.storage;
  return {
    async openToolQuestion(input: ToolQuestionInput): Promise<OpenedToolQuestion> {
      const { turn, toolCallId, elicitationId, request } = input;
      const notAsked = (why: NotAsked | 'cancel' | 'page-cannot-report' | 'id-was-used') =>
        ({ kind: 'not-asked', why }) as const;
      if (turn.user === null || !canPresent(request.mode, turn.capabilities)) return notAsked('unsupported');
      const secret = parts.config.agents.get(turn.agent)?.tools?.completionSecretEnv;
      if (request.mode === 'url' && secret === undefined) return notAsked('page-cannot-report');
      const taken = await elicitations.get(elicitationId);
      // After a reset of the workflow, the question of this call is already there.
      if (taken && (taken.turnId !== turn.turnId || taken.request.context.toolCallId !== toolCallId))
        return notAsked('id-was-used');
      const { toolName } = await requestedToolCall(parts.storage, turn, toolCallId);
      const opened = await openQuestions(parts, input, [toolQuestion(parts, input, toolName)]);
      switch (opened.kind) {
        case 'opened':
          return opened.questions[0]
            ? { kind: 'asked', question: toAsked(opened.questions[0]) }
            : notAsked('cancel');
        case 'already-connected':
        case 'over':
          return notAsked('cancel');
        default:
          return notAsked(opened.kind);
      }
    },

    async readToolAnswer({ elicitationId }: ToolAnswerInput): Promise<ToolAnswer> {
      const [read] = await expireOverdue(parts, await elicitations.read([elicitationId]));
      if (!read) throw new Error(`Question ${elicitationId} is not in the database.`);
      const { question } = read;
      if (question.status === 'pending') return { kind: 'asks', questions: [toAsked(read)] };
      answerTookEffect(question, parts.storage.now());
      const outcome = question.status;
      if (outcome !== 'accept' || question.request.mode === 'url') return { kind: 'settled', outcome };
      const content = await answerContent(parts, question);
      if (content === undefined)
        throw new Error(`The answer to question ${elicitationId} is not in the database.`);
      return { kind: 'settled', outcome, content: content ?? {} };
    },
  };
}

export interface ToolAnswerInput {
  turn: TurnRef;
  toolCallId: string;
  elicitationId: string;
}

function toolQuestion(
  parts: Pick<QuestionParts, 'config'>,
  { turn, toolCallId, elicitationId, index, request, timeoutMs }: ToolQuestionInput,
  toolName: string,
): Question {
  const { toolTitle, ...asked } = request;
  const warnings = asked.mode === 'url' ? warningsAbout(asked.url) : [];
  const context: Context = {
    ...agentContext(parts, turn),
    trigger: 'tool_elicitation',
    toolName,
    toolTitle,
    toolCallId,
    ...(warnings.length > 0 && { warnings }),
  };
  return {
    id: elicitationId,
    place: `tool/${turn.turnId}/${toolCallId}/${index}`,
    request: { ...asked, context },
    isReported: asked.mode === 'url',
    timeoutMs,
  };
}
