/** Answers of a client to questions of a call, each under the id of its question. */
import type { ElicitationResponse } from '../../../elicitation/elicitation.ts';
import { fittedResponse } from '../../../service/fitted-response.ts';
import { refusedAnswer } from '../../../service/refused-answer.ts';
import type { Service } from '../../../service/service.ts';
import { answerTool, fallbackTool } from './fallback.ts';
import type { Question } from './follow-call.ts';
import { reservedForUser } from './showable.ts';
import type { Caller } from './tool.ts';

export type Verdict =
  /** On record, and the question is closed. */
  | { kind: 'settled' }
  /** On record; the question stays open until an account is connected or a page is done. */
  | { kind: 'awaited' }
  /** The question stays open, and may be answered again. */
  | { kind: 'misfit'; reasons: string }
  /** The question was closed before: it is over, or was answered differently elsewhere. */
  | { kind: 'late'; words: string };

export async function answerQuestion(
  service: Pick<Service, 'answerQuestion'>,
  { principal, address }: Caller,
  { question, response }: { question: Question; response: ElicitationResponse },
): Promise<Verdict> {
  // Its client was given a link for it, and agrees to open that.
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
        // The program has shown the link; the person goes on from there.
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
