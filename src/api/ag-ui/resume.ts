/**
 * The answers of a run: entries of `resume`, and results of front-end tools. Everything that can be refused is
 * refused before the first answer is recorded; after that, a question may only stay open because a form does not fit,
 * or turn out to have been answered elsewhere meanwhile.
 */
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import type { Principal } from '../../service/principal.ts';
import type { Question } from '../../service/questions.ts';
import { refusedAnswer, ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { invalidRequest, ProblemError } from '../http/problems.ts';
import { toFrontendContent } from '../../turn/frontend-result.ts';
import { isFrontendCall } from './frontend-tools.ts';
import type { GivenResult } from './frontend-tools.ts';
import { responseOf } from './run-input.ts';
import type { ResumeEntry } from './run-input.ts';
import type { SettledQuestion } from './translate.ts';

export interface RunCaller {
  principal: Principal;
  /** IP address, for the audit. */
  address: string;
}

/** What became of the answers. */
export interface Answers {
  /** Recorded; the turn goes on with them. */
  recorded: Set<string>;
  /** Whether one of them had not been recorded before. */
  isNew: boolean;
  /** Links that the person agreed to open; the questions stay open until their pages are done. */
  agreed: Set<string>;
  /** Why a question stays open. */
  errors: Map<string, string>;
  /** Ended before this run. */
  ended: SettledQuestion[];
}

export const noAnswers: Answers = {
  recorded: new Set(),
  isNew: false,
  agreed: new Set(),
  errors: new Map(),
  ended: [],
};

interface PlannedAnswer {
  question: Question;
  response: ElicitationResponse;
  /** If the question has ended, nothing changes. */
  mayBeLate: boolean;
}

/** Refuses entries that name an unknown question or one twice, come late, or have the wrong shape, and unknown results. */
export async function planAnswers(
  service: Service,
  { principal }: RunCaller,
  { threadId, resume: given }: AgUiRun,
  { results, liveTurn }: { results: GivenResult[]; liveTurn: string | null },
): Promise<PlannedAnswer[]> {
  const resume = given ?? [];
  refuseDuplicates(resume);
  const asked = await service.listQuestions(principal, threadId);
  const plan = resume.map((entry, index) => {
    const question = asked.find(({ id }) => id === entry.interruptId);
    if (!question)
      throw new ProblemError(
        'elicitation_not_found',
        `/resume/${index}/interruptId: no such question was asked in this thread.`,
      );
    const response = responseOf(entry, question.request, `/resume/${index}`);
    return { question, response, mayBeLate: entry.status === 'cancelled' };
  });
  for (const { question, mayBeLate } of plan) if (!mayBeLate) refuseLate(question, liveTurn);
  for (const result of results) {
    const question = asked.find(
      ({ request: { context } }) => isFrontendCall(context) && context.toolCallId === result.toolCallId,
    );
    if (!question)
      throw new ProblemError(
        'elicitation_not_found',
        `${result.at}/toolCallId: no such call of a front-end tool was made in this thread.`,
      );
    if (plan.some((one) => one.question === question))
      throw invalidRequest([
        { pointer: `${result.at}/toolCallId`, detail: 'this call is answered in resume, too' },
      ]);
    const response = { action: 'accept' as const, content: toFrontendContent(result) };
    plan.push({ question, response, mayBeLate: true });
  }
  return plan;
}

function refuseDuplicates(resume: ResumeEntry[]): void {
  const errors = resume.flatMap(({ interruptId }, index) =>
    resume.findIndex((other) => other.interruptId === interruptId) === index
      ? []
      : [{ pointer: `/resume/${index}/interruptId`, detail: 'answer each question once' }],
  );
  if (errors.length > 0) throw invalidRequest(errors);
}

function refuseLate({ status, turnId }: Question, liveTurn: string | null): void {
  if (status === 'expired')
    throw new ServiceError('expired', 'The deadline has passed. Cancel the interrupt to go on.');
  if (status === 'cancel' && turnId !== liveTurn)
    throw new ServiceError('turn_over', 'The turn that asked has ended. Cancel the interrupt to go on.');
}

export async function recordAnswers(
  service: Service,
  { principal, address }: RunCaller,
  body: AgUiRun,
  plan: PlannedAnswer[],
): Promise<Answers> {
  const { threadId: conversation } = body;
  const answers: Answers = {
    ...noAnswers,
    recorded: new Set(),
    agreed: new Set(),
    errors: new Map(),
    ended: [],
  };
  if (plan.length === 0) return answers;
  const endedAs = ({ id, request: { context } }: Question, status: string) =>
    answers.ended.push({
      interruptId: id,
      status,
      ...(isFrontendCall(context) && context.toolCallId !== undefined && { toolCallId: context.toolCallId }),
    });
  // Answers that repeat others are first: they are refused if they say something else.
  const isRepeated = ({ question }: PlannedAnswer) => question.status !== 'pending';
  const ordered = [...plan.filter(isRepeated), ...plan.filter((one) => !isRepeated(one))];
  // CopilotKit answers under the `runId` of the run that asked, which may ask more than once. A question that was
  // answered under it together with others is refused before the first answer is recorded.
  const content = plan.map(({ question }) => question.id).toSorted();
  for (const { question } of ordered)
    await service.claimKey(principal, { conversation, key: `${runKey(body)}/${question.id}`, content });
  for (const { question, response, mayBeLate } of ordered) {
    const { id, status } = question;
    if (mayBeLate && status !== 'pending') {
      endedAs(question, status);
      continue;
    }
    const given = { conversation, elicitationId: id, response, address, idempotencyKey: runKey(body) };
    try {
      const answered = await service.answerQuestion(principal, given);
      if (answered.kind === 'recorded') answers.recorded.add(id);
      else answers.agreed.add(id);
      answers.isNew ||= answered.kind === 'recorded' && !answered.duplicate;
    } catch (error) {
      const refused = refusedAnswer(error);
      if (!refused) throw error;
      if (refused.kind === 'misfit') answers.errors.set(id, refused.reasons);
      else if (refused.kind === 'person') answers.errors.set(id, refused.message);
      else endedAs(question, refused.outcome);
    }
  }
  return answers;
}

/** A run is known by its id, in its thread. */
export function runKey({ threadId, runId }: AgUiRun): string {
  return `ag-ui/${threadId}/${runId}`;
}
