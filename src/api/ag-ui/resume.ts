/**
 * The answers of a run. Everything that can be refused is refused before the first answer is recorded; after that, a question may
 * only stay open because a form does not fit, or turn out to have been answered elsewhere meanwhile.
 */
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import type { Principal } from '../../service/principal.ts';
import type { Question } from '../../service/questions.ts';
import { refusedAnswer, ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { invalidRequest, ProblemError } from '../http/problems.ts';
import { responseOf } from './run-input.ts';
import type { ResumeEntry } from './run-input.ts';

export interface RunCaller {
  principal: Principal;
  /** IP address, for the audit. */
  address: string;
}

/** What became of the answers. */
export interface Answers {
  /** Recorded; the turn goes on with them. */
  recorded: Set<string>;
  /** Links that the person agreed to open; the questions stay open until their pages are done. */
  agreed: Set<string>;
  /** Why a question stays open. */
  errors: Map<string, string>;
  /** Ended before this run, with the outcome. */
  ended: Map<string, string>;
}

export const noAnswers: Answers = {
  recorded: new Set(),
  agreed: new Set(),
  errors: new Map(),
  ended: new Map(),
};

export interface PlannedAnswer {
  question: Question;
  response: ElicitationResponse;
  isCancelled: boolean;
}

/** Refuses entries that name an unknown question or one twice, come late, or have the wrong shape. */
export async function planAnswers(
  service: Service,
  { principal }: RunCaller,
  { threadId, resume: given }: AgUiRun,
  liveTurn: string | null,
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
    return { question, response, isCancelled: entry.status === 'cancelled' };
  });
  for (const { question, isCancelled } of plan) if (!isCancelled) refuseLate(question, liveTurn);
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
  { threadId, runId }: AgUiRun,
  plan: PlannedAnswer[],
): Promise<Answers> {
  const answers: Answers = { recorded: new Set(), agreed: new Set(), errors: new Map(), ended: new Map() };
  for (const { question, response, isCancelled } of plan) {
    const { id, status } = question;
    if (isCancelled && status !== 'pending') {
      answers.ended.set(id, status);
      continue;
    }
    const given = { conversation: threadId, elicitationId: id, response, address };
    try {
      const answered = await service.answerQuestion(principal, {
        ...given,
        idempotencyKey: `ag-ui/${runId}`,
      });
      if (answered.kind === 'recorded') answers.recorded.add(id);
      else answers.agreed.add(id);
    } catch (error) {
      const refused = refusedAnswer(error);
      if (!refused) throw error;
      if (refused.kind === 'misfit') answers.errors.set(id, refused.reasons);
      else if (refused.kind === 'person') answers.errors.set(id, refused.message);
      else answers.ended.set(id, (error as ServiceError).details.outcome ?? status);
    }
  }
  return answers;
}
