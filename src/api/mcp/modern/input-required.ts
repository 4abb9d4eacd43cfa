/** Questions as the input requests of a result, and the responses to them. Pure. */
import type { InputRequest, InputRequests } from '@modelcontextprotocol/server';
import type { ElicitationResponse } from '../../../elicitation/elicitation.ts';
import { isAction } from '../../../elicitation/elicitation.ts';
import type { Question } from '../tools/follow-call.ts';
import { questionMeta } from '../tools/question-meta.ts';
import { shownQuestion } from '../tools/showable.ts';
import { questionWords } from '../../../elicitation/question-words.ts';

/** One key for each question, its id. `misfits`: what was wrong with the answers of this round. */
export function toInputRequests(questions: Question[], misfits: ReadonlyMap<string, string>): InputRequests {
  return Object.fromEntries(
    questions.map((question) => [
      question.elicitationId,
      toInputRequest(question, misfits.get(question.elicitationId)),
    ]),
  );
}

function toInputRequest(question: Question, misfit: string | undefined): InputRequest {
  const shown = shownQuestion(question);
  const message = questionWords(question, misfit);
  const _meta = questionMeta(question);
  const params =
    shown.mode === 'url'
      ? { mode: 'url', message, url: shown.url, _meta }
      : { mode: 'form', message, requestedSchema: shown.requestedSchema, _meta };
  return { method: 'elicitation/create', params } as InputRequest;
}

/** Null for what is no answer: the question is asked again. */
export function toResponse(given: unknown): ElicitationResponse | null {
  if (typeof given !== 'object' || given === null || !('action' in given) || !isAction(given.action))
    return null;
  const content = 'content' in given ? given.content : undefined;
  const isContent = typeof content === 'object' && content !== null && !Array.isArray(content);
  return { action: given.action, ...(isContent && { content: content as Record<string, unknown> }) };
}
