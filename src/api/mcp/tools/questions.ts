/**
 * Questions and their answers as MCP clients see them: which the client can show itself, how they are put, and what became of
 * an answer.
 */
import type { z } from 'zod';
import type { InputRequest, InputRequests } from '@modelcontextprotocol/server';
import type {
  Capabilities,
  Context,
  ElicitationResponse,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import { personalKind, personalWords, withPersonalAsLink } from '@interlude-ai/core/elicitation/personal.ts';
import { questionMetaKey } from '@interlude-ai/core/contract/elicitation.ts';
import type { QuestionMetaSchema } from '@interlude-ai/core/contract/elicitation.ts';
import { isAction } from '@interlude-ai/core/elicitation/elicitation.ts';
import { questionWords } from '@interlude-ai/core/elicitation/question-as-text.ts';
import { fittedResponse } from '../../../service/answer-content.ts';
import { refusedAnswer } from '../../../service/service-error.ts';
import type { Service } from '../../../service/service.ts';
import type { Question } from './follow-call.ts';
import { answerTool, fallbackTool } from './tool.ts';
import type { Caller } from './tool.ts';

/** A question that only the person may accept becomes a link to our page, where the client cannot answer for them. */
export function shownQuestion(question: Question) {
  return withPersonalAsLink(question, question.page);
}

export function isShowable(shows: Capabilities): (question: Question) => boolean {
  return (question) => shows[shownQuestion(question).mode];
}

/** Why a model may not accept this question for its user, and on which page the user can. Null if it may. */
export function reservedForUser(question: Question): string | null {
  const kind = personalKind(question);
  return kind && personalWords(kind, question.page);
}

/**
 * Version of the metadata of a question that clients can read: who asks, and why. A public contract (docs/mcp-server.md):
 * members are added, never changed; anything else needs a new version.
 */
export const metaVersion = 1;

/** `_meta` of a request `elicitation/create`, in all revisions of the protocol. */
function questionMeta({ elicitationId, expiresAt, context }: Question) {
  const meta: z.input<typeof QuestionMetaSchema> = {
    version: metaVersion,
    elicitationId,
    expiresAt,
    context: { ...context },
  };
  return { [questionMetaKey]: meta };
}

/** For questions that are put as text. `path`: of a delegated agent. */
export function originOf({ trigger, path }: Context) {
  return { trigger, ...(path && { path }) };
}

/** By question id. `misfits`: what was wrong with the answers of this round. */
export function toInputRequests(questions: Question[], misfits: ReadonlyMap<string, string>): InputRequests {
  return Object.fromEntries(
    questions.map((question) => [
      question.elicitationId,
      toInputRequest(question, misfits.get(question.elicitationId)) as InputRequest,
    ]),
  );
}

export function toInputRequest(question: Question, misfit: string | undefined) {
  const shown = shownQuestion(question);
  const message = questionWords(question, misfit);
  const _meta = questionMeta(question);
  const params =
    shown.mode === 'url'
      ? { mode: 'url', message, url: shown.url, _meta }
      : { mode: 'form', message, requestedSchema: shown.requestedSchema, _meta };
  return { method: 'elicitation/create' as const, params };
}

/** Null if it is not an answer; the question is then asked again. */
export function toResponse(given: unknown): ElicitationResponse | null {
  if (typeof given !== 'object' || given === null || !('action' in given) || !isAction(given.action))
    return null;
  const content = 'content' in given ? given.content : undefined;
  const isContent = typeof content === 'object' && content !== null && !Array.isArray(content);
  return { action: given.action, ...(isContent && { content: content as Record<string, unknown> }) };
}

export type Verdict =
  /** Recorded, and the question is closed. */
  | { kind: 'settled' }
  /** Recorded; the question stays open until an account is connected or a page is done. */
  | { kind: 'awaited' }
  /** The question stays open and may be answered again. */
  | { kind: 'misfit'; reasons: string }
  /** The question was already closed. */
  | { kind: 'late'; words: string };

export async function answerQuestion(
  service: Service,
  { principal, address }: Caller,
  { question, response }: { question: Question; response: ElicitationResponse },
): Promise<Verdict> {
  // The client was given a link to our page, and agreed to open that.
  if (response.action === 'accept' && reservedForUser(question) !== null) return { kind: 'awaited' };
  try {
    const answered = await service.answerQuestion(principal, {
      elicitationId: question.elicitationId,
      response: fittedResponse(question, response),
      address,
      mayBeModel: true,
    });
    return { kind: answered.kind === 'recorded' ? 'settled' : 'awaited' };
  } catch (error) {
    const refused = refusedAnswer(error);
    if (!refused) throw error;
    switch (refused.kind) {
      case 'misfit':
        return { kind: 'misfit', reasons: refused.reasons };
      case 'person':
        // The client has shown the link; the person goes on from there.
        return { kind: 'awaited' };
      case 'over':
        return { kind: 'late', words: refused.message };
      default:
        return refused satisfies never;
    }
  }
}

const toolsForAnswers: ReadonlySet<unknown> = new Set([fallbackTool, answerTool]);

/** Whether a message is sent to answer a question: a response to ours, input responses, or a call of a tool for answers. */
export function isAnswer(body: unknown): boolean {
  const message = Object(body) as { method?: unknown; params?: unknown };
  const { method, params } = message;
  if (method === undefined) return 'result' in message || 'error' in message;
  const { name, inputResponses } = Object(params) as { name?: unknown; inputResponses?: unknown };
  if (Object.keys(Object(inputResponses) as object).length > 0) return true;
  return method === 'tools/call' && toolsForAnswers.has(name);
}
