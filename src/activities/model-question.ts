/**
 * Calls whose result a person or their front end sends: the tool `ask_user`, with which a model shows the user a form, and the
 * tools of a front end. Agents have either if the agents file says so.
 */
import { z } from 'zod';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { questionAsText } from '@interlude-ai/core/elicitation/question-as-text.ts';
import type { ToolCallRow } from '../storage/schema/turn-tables.ts';
import { answerTookEffect, frontendTool } from '../platform/telemetry/metrics/instruments.ts';
import { traceToolCall } from '../platform/telemetry/traces/agent-spans.ts';
import { currentPhase } from '../platform/telemetry/traces/turn-spans.ts';
import type { CallFailure, FrontendRefusal } from '../turn/call-failure.ts';
import type { AttemptResult } from '../turn/step.ts';
import type { ToolOutcome } from '../turn/event.ts';
import type { ToolResult } from '../turn/tool-result.ts';
import { frontendQuestion, frontendResult } from './frontend-tools.ts';
import { finishToolCall, requestedToolCall } from './tool-results.ts';
import type { FinishParts } from './tool-results.ts';
import { agentContext, answerContent, asksOf, openQuestions, questionsOfCall } from './questions.ts';
import type { AskingCall, Question, QuestionParts } from './questions.ts';
import type { AskUser } from '../platform/config/config.ts';
import { inspectForm } from '@interlude-ai/core/elicitation/form/inspect-form.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import {
  plainSchema,
  Unsupported,
  withoutNullKeywords,
} from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { isVisible, plainMessage } from '@interlude-ai/core/elicitation/plain-text.ts';

interface ModelQuestionInput extends AskingCall {
  /** The turn has not asked as many of these questions as the agent may. */
  isAllowed: boolean;
}

export function createModelQuestionActivity(parts: QuestionParts & FinishParts) {
  return {
    /** Opens the question. Executed again, it reads the answer and finishes the call, or reports that it is still open. */
    async askModelQuestion(input: ModelQuestionInput): Promise<AttemptResult> {
      const { turn, toolCallId } = input;
      const phase = currentPhase(parts, turn);
      const call = await requestedToolCall(parts.storage, turn, toolCallId);
      if (call.state === 'finished') return { kind: 'finished' };
      const traced = { toolCallId, tool: call.toolName };
      return traceToolCall(phase, turn, traced, () => ask(input, call));
    },
  };

  async function ask(input: ModelQuestionInput, call: ToolCallRow): Promise<AttemptResult> {
    const { turn, toolCallId, isAllowed } = input;
    const isForm = call.toolName === askUserTool;
    const finish = async (
      result: ToolResult | CallFailure,
      outcome?: ToolOutcome,
    ): Promise<AttemptResult> => {
      await finishToolCall(parts, turn, call, result, { outcome, ...(!isForm && { label: frontendTool }) });
      return { kind: 'finished' };
    };
    const unanswered = (why: FrontendRefusal) =>
      finish(
        isForm
          ? { code: 'form', why, question: asText(call) }
          : { code: 'frontend_tool', why, tool: call.toolName },
        why === 'decline' || why === 'cancel' || why === 'expired' ? why : 'not_asked',
      );

    let questions = await questionsOfCall(parts, turn, toolCallId);
    if (questions.length === 0) {
      if (isForm && !isAllowed)
        return finish({ code: 'form', why: 'limit-reached', question: asText(call) }, 'not_asked');
      if (turn.user === null) return unanswered('no-user');
      if (!canPresent('form', turn.capabilities)) return unanswered('unsupported');
      const asked = isForm ? modelQuestion(parts, input, call) : frontendQuestion(parts, input, call);
      if (!asked) return unanswered('cancel');
      const opened = await openQuestions(parts, input, [asked]);
      if (opened.kind === 'over' || opened.kind === 'already-connected') return { kind: 'finished' };
      if (opened.kind !== 'opened') return unanswered(opened.kind);
      questions = opened.questions;
    }
    const asks = asksOf(questions);
    if (asks) return asks;
    const question = questions[0]?.question;
    if (question) answerTookEffect(question, parts.storage.now());
    if (question?.status === 'accept') {
      const content = await answerContent(parts, question);
      if (!content) throw new Error(`The answer to question ${question.id} is not in the database.`);
      return finish(isForm ? formResult(content) : frontendResult(content));
    }
    return unanswered(!question || question.status === 'pending' ? 'cancel' : question.status);
  }
}

/** Null if it cannot be shown: the rules have changed since the model asked. */
function modelQuestion(
  parts: QuestionParts,
  { turn, toolCallId }: AskingCall,
  { input }: ToolCallRow,
): Question | null {
  const read = readModelQuestion(input);
  if (read.kind === 'refused') return null;
  const context = {
    ...agentContext(parts, turn),
    trigger: 'model_question' as const,
    toolName: askUserTool,
    toolCallId,
  };
  return {
    place: `model/${turn.turnId}/${toolCallId}`,
    request: { mode: 'form', ...read.question, context },
  };
}

function formResult(content: Record<string, unknown>): ToolResult {
  return {
    kind: 'output',
    output: { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content },
  };
}

function asText({ input }: ToolCallRow): string {
  const read = readModelQuestion(input);
  return read.kind === 'question' ? questionAsText({ mode: 'form', ...read.question }) : '';
}

export const askUserTool = 'ask_user';

export interface QuestionTool {
  modelName: typeof askUserTool;
  /** How many questions the model may ask in one turn. */
  perTurn: number;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The model's question as it is shown. */
interface ModelQuestion {
  message: string;
  requestedSchema: Record<string, unknown>;
}

type ReadModelQuestion =
  | { kind: 'question'; question: ModelQuestion }
  /** `reason`: one sentence for the model. */
  | { kind: 'refused'; reason: string };

const inputSchema = z.object({
  message: z
    .string()
    .max(4_000)
    .refine(isVisible, 'it is empty')
    .describe('The question, one or two sentences. The user sees nothing else of your reasons.'),
  schema: z
    .record(z.string(), z.unknown())
    .describe(
      'JSON Schema of the form: {"type":"object","properties":{…},"required":[…]}. Flat: each property is a string ' +
        '(format email, uri, date or date-time; or enum for a choice), number, integer, boolean, or an array of ' +
        'enum strings. Give each a "title".',
    ),
});

export function toQuestionTool({ perTurn }: AskUser): QuestionTool {
  return {
    modelName: askUserTool,
    perTurn,
    description:
      'Shows the user a form and returns what they filled in. Use it when you cannot go on without facts or a ' +
      'decision that only the user has, and when a form is easier for them than an answer in words. Ask for everything ' +
      `you need at once; at most ${perTurn === 1 ? 'one form' : `${perTurn} forms`} in one turn. Never ask for passwords, keys, card numbers or other secrets.`,
    inputSchema: z.toJSONSchema(inputSchema, { io: 'input' }),
  };
}

/** `input`: what the model passed to the tool. */
export function readModelQuestion(input: unknown): ReadModelQuestion {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(
      `"${issue?.path.join('.') ?? 'message'}" is not right: ${issue?.message ?? 'it is malformed'}.`,
    );
  }
  const { message } = parsed.data;
  const schema = withoutNullKeywords(parsed.data.schema);
  const form = readRequestedSchema(schema);
  if (form.kind === 'unsupported') return refused(form.reason);
  if (form.fields.length === 0) return refused('The form has no fields.');
  for (const { rule, message: found } of inspectForm({ message, requestedSchema: schema })) {
    if (rule === 'secret-in-form') return refused(`${found} A form must not ask for secrets.`);
    if (rule === 'link-in-form')
      return refused(`${found} A form must not have links: write the link in your answer instead.`);
  }
  try {
    const question = { message: plainMessage(message), requestedSchema: plainSchema(schema) };
    return { kind: 'question', question };
  } catch (error) {
    if (error instanceof Unsupported) return refused(error.message);
    throw error;
  }
}

function refused(reason: string): ReadModelQuestion {
  return { kind: 'refused', reason };
}
