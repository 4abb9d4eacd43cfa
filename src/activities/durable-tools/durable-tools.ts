/** The activities of a tool's own workflow, for the workers of tools, whose histories are sealed. */
import { activityInfo } from '@temporalio/activity';
import { questionAsText } from '@interlude-ai/core/elicitation/question-as-text.ts';
import { traceFinishedTool } from '../../platform/telemetry/traces/agent-spans.ts';
import type { ToolRequest, AskedQuestion, NotAsked } from '../../turn/ask.ts';
import type { GivenApproval } from '../../turn/step.ts';
import type { ToolOutcome } from '../../turn/event.ts';
import type { ToolResult } from '../../turn/tool-result.ts';
import { isAsApproved } from '../approval.ts';
import type { ApprovalParts } from '../approval.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import type { DurableCallRef } from './durable-calls.ts';
import type { ToolProgressWriters } from '../progress.ts';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Context, Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import { warningsAbout } from '@interlude-ai/core/elicitation/url-safety.ts';
import { answerTookEffect } from '../../platform/telemetry/metrics/instruments.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { agentContext, answerContent, expireOverdue, openQuestions, toAsked } from '../questions.ts';
import type { AskingCall, Question, QuestionParts } from '../questions.ts';

/** `stopped`: the call was cancelled before it had a result. */
export type DurableToolResult = ToolResult | { kind: 'stopped'; wasWaiting: boolean };

/** `over`: the call was withdrawn before it began, or is not what was approved. */
type BegunTool = { kind: 'begun'; input: unknown } | { kind: 'over' };

interface BeginTool extends DurableCallRef {
  /** Given if a person had to approve the call. */
  approval?: GivenApproval;
}

interface FinishTool extends DurableCallRef {
  result: DurableToolResult;
  /** Questions that the user could not be asked. */
  unasked: ToolRequest[];
}

export function createDurableToolActivities(parts: ApprovalParts & { progress: ToolProgressWriters }) {
  const { storage, progress } = parts;
  return {
    ...createToolQuestionActivities(parts),

    async beginTool({ turn, toolCallId, approval }: BeginTool): Promise<BegunTool> {
      const { attempt } = activityInfo();
      const call = await requestedToolCall(storage, turn, toolCallId);
      if (approval && !(await isAsApproved(parts, { turn, call }, approval))) {
        const failure = { code: 'not_as_approved', server: null } as const;
        await finishToolCall(parts, turn, call, failure, { outcome: 'not_allowed' });
        return { kind: 'over' };
      }
      const isStarted = await storage.toolCalls.start(turn, toolCallId, { execution: 0, attempt });
      const { state } = await requestedToolCall(storage, turn, toolCallId);
      // An earlier attempt of this activity may have started it and died before it returned.
      return isStarted || state !== 'finished' ? { kind: 'begun', input: call.input } : { kind: 'over' };
    },

    async finishTool({ turn, toolCallId, result, unasked }: FinishTool): Promise<void> {
      await progress.rest(turn, toolCallId);
      const call = await requestedToolCall(storage, turn, toolCallId);
      const isStopped = result.kind === 'stopped';
      const written = isStopped ? stoppedResult(result) : result;
      const questions = unasked.map(unaskedAsText);
      const remark = { code: 'questions_not_asked', questions, hasUser: turn.user !== null } as const;
      const marked = questions.length === 0 ? written : { ...written, remark };
      await finishToolCall(parts, turn, call, marked, {
        outcome: isStopped ? stoppedOutcome(result) : 'tool_error',
        isStopped,
      });
      const isFailed = !isStopped && (result.kind !== 'output' || result.output.isError === true);
      traceFinishedTool(parts, turn, { toolCallId, tool: call.toolName, isFailed });
      await storage.toolEffects.forgetResults(activityInfo().workflowExecution?.workflowId ?? '');
    },
  };
}

type StoppedTool = Extract<DurableToolResult, { kind: 'stopped' }>;

function stoppedResult({ wasWaiting }: StoppedTool): ToolResult {
  const state = wasWaiting ? 'paused' : 'started';
  return { kind: 'failed', failure: { code: 'unfinished', end: 'cancelled', state } };
}

function stoppedOutcome({ wasWaiting }: StoppedTool): ToolOutcome {
  return wasWaiting ? 'cancel' : 'stopped';
}

export type DurableToolActivities = ReturnType<typeof createDurableToolActivities>;

/** Without the address of a page: its question was never opened, so the page would be useless. */
function unaskedAsText(request: ToolRequest): string {
  return request.mode === 'url' ? request.message : questionAsText(request);
}

interface ToolQuestionInput extends AskingCall {
  /** Chosen by the author, or random. */
  elicitationId: string;
  /** Counts the questions of the call. */
  index: number;
  request: ToolRequest;
  timeoutMs?: number;
}

type OpenedToolQuestion =
  /** After a reset of the workflow this is the earlier question, with another id. */
  | { kind: 'asked'; question: AskedQuestion }
  | { kind: 'not-asked'; why: NotAsked | 'cancel' | 'page-cannot-report' | 'id-was-used' };

type ToolAnswer =
  | { kind: 'asks'; questions: AskedQuestion[] }
  /** `content`: only of an accepted form. */
  | { kind: 'settled'; outcome: Outcome; content?: unknown };

export function createToolQuestionActivities(parts: QuestionParts) {
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

interface ToolAnswerInput {
  turn: TurnRef;
  toolCallId: string;
  elicitationId: string;
}

function toolQuestion(
  parts: QuestionParts,
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
