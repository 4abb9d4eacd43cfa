/** The model's own question to the user: a call of the tool `ask_user`, asked, answered and finished. */
import { canPresent } from '../../elicitation/capabilities.ts';
import type { Outcome } from '../../elicitation/elicitation.ts';
import { modelQuestionForModel } from '../../elicitation/model-question.ts';
import { questionAsText } from '../../elicitation/question-as-text.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';
import type { ToolCallRow } from '../../storage/ports/tool-calls.ts';
import { answerTookEffect } from '../../telemetry/metrics/instruments.ts';
import { traceToolCall } from '../../telemetry/traces/agent-spans.ts';
import { currentPhase } from '../../telemetry/traces/turn-spans.ts';
import type { NotAsked } from '../../turn/ask.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import type { ToolOutcome, ToolResult } from '../../turn/tool-result.ts';
import { askUserTool, readModelQuestion } from '../call-model/question-tool.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import type { FinishParts } from '../tool-results.ts';
import { agentContext, answerContent, asksOf, openQuestions, questionsOfCall } from './questions.ts';
import type { AskingCall, Question, QuestionParts } from './questions.ts';

export interface ModelQuestionInput extends AskingCall {
  /** The turn has not asked as many of these questions as the agent may. */
  isAllowed: boolean;
}

type Unanswered = Exclude<Outcome, 'accept'> | NotAsked | 'no-user' | 'limit-reached';

export function createModelQuestionActivity(parts: QuestionParts & FinishParts) {
  return {
    /** Opens the question; executed again, it reads the answer and finishes the call, or returns that it is still open. */
    async askModelQuestion(input: ModelQuestionInput): Promise<AttemptResult> {
      const { turn, toolCallId } = input;
      const phase = currentPhase(parts, turn);
      const traced = { toolCallId, tool: askUserTool };
      return traceToolCall(phase, turn, traced, () => ask(input));
    },
  };

  async function ask(input: ModelQuestionInput): Promise<AttemptResult> {
    const { turn, toolCallId, isAllowed } = input;
    const call = await requestedToolCall(parts.storage, turn, toolCallId);
    if (call.state === 'finished') return { kind: 'finished' };
    const finish = async (result: ToolResult | string, outcome?: ToolOutcome): Promise<AttemptResult> => {
      await finishToolCall(parts, turn, call, result, { outcome });
      return { kind: 'finished' };
    };
    const unanswered = (why: Unanswered) =>
      finish(
        modelQuestionForModel(why, asText(call)),
        why === 'decline' || why === 'cancel' || why === 'expired' ? why : 'not_asked',
      );

    let questions = await questionsOfCall(parts, turn, toolCallId);
    if (questions.length === 0) {
      if (!isAllowed) return unanswered('limit-reached');
      if (turn.user === null) return unanswered('no-user');
      if (!canPresent('form', turn.capabilities)) return unanswered('unsupported');
      const asked = modelQuestion(parts, input, call);
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
    if (question?.status === 'accept') return finish(await answerAsResult(parts, question));
    return unanswered(!question || question.status === 'pending' ? 'cancel' : question.status);
  }
}

/** Null when it is not fit to be shown: it was when the model asked, and other rules hold since. */
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

async function answerAsResult(parts: QuestionParts, question: ElicitationRow): Promise<ToolResult> {
  const content = await answerContent(parts, question);
  if (!content) throw new Error(`The answer to question ${question.id} is not in the database.`);
  return {
    kind: 'output',
    output: { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content },
  };
}

function asText({ input }: ToolCallRow): string {
  const read = readModelQuestion(input);
  return read.kind === 'question' ? questionAsText({ mode: 'form', ...read.question }) : '';
}
