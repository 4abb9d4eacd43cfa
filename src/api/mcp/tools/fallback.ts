/**
 * For clients that cannot show a question (they do not declare its mode, or failed to show it): the question becomes the result
 * of the call. The client's model asks its user and answers with the tool `sendElicitationResult`. Pure.
 */
import {
  fieldsAsText,
  questionWords,
  quotedQuestionWords,
} from '@interlude-ai/core/elicitation/question-as-text.ts';
import { inspectUrl } from '@interlude-ai/core/elicitation/url-safety.ts';
import { turnResult } from './call-result.ts';
import type { Question } from './follow-call.ts';
import { metaVersion, originOf, reservedForUser, shownQuestion } from './questions.ts';
import type { ToolResult } from './tool.ts';
import type { TurnName } from './call-result.ts';
import { answerTool, fallbackTool } from './tool.ts';

/** Remarks by question id: what was wrong with its answer, or that its page is not done yet. */
export type Notes = ReadonlyMap<string, string>;

/** For a client that declares every kind of question but failed to show this one: it does not have the fallback tool. */
export function unshownResult(turn: TurnName, questions: Question[], notes?: Notes): ToolResult {
  const { content, ...rest } = pendingResult(turn, questions, notes);
  const text = `If you do not have the tool ${fallbackTool}, call ${answerTool} with the same values and the id as "elicitationId", then wait_for_turn {"turnId": "${turn.turnId}"}.`;
  return { ...rest, content: [...content, { type: 'text', text }] };
}

export function pendingResult(turn: TurnName, questions: Question[], notes: Notes = new Map()): ToolResult {
  const pending = questions.map((question) => toPending(question, notes.get(question.elicitationId)));
  const text = [
    'This tool requires user input to continue.',
    ...questions.flatMap((question) => [
      `**Question:** ${quotedQuestionWords(question, notes.get(question.elicitationId))}`,
      whatToDo(question),
    ]),
  ].join('\n\n');
  return {
    content: [{ type: 'text', text }],
    structuredContent: turnResult(turn, { status: 'input_required', questions: pending }),
    _meta: {
      elicitationPending: pending[0],
      ...(pending.length > 1 && { elicitationsPending: pending }),
    },
  };
}

function toPending(question: Question, note: string | undefined) {
  const shown = shownQuestion(question);
  return {
    version: metaVersion,
    elicitId: question.elicitationId,
    ...originOf(question.context),
    message: questionWords(question, note),
    schema: shown.mode === 'form' ? shown.requestedSchema : { type: 'object', properties: {} },
    ...(shown.mode === 'url' && { url: shown.url }),
    instructions: reservedForUser(question) ?? `Call ${fallbackTool} tool after collecting user input`,
  };
}

function whatToDo(question: Question): string {
  const { elicitationId, expiresAt } = question;
  const call = (rest: string) =>
    `${fallbackTool} {"elicitId": "${elicitationId}", "action": "accept"${rest}}`;
  const otherwise = `If they refuse, send the action "decline"; if they do not want to decide now, "cancel". Never decide for them. The question is open until ${expiresAt}.`;
  if (question.mode === 'url') {
    const inspected = inspectUrl(question.url);
    const host = inspected.kind === 'ok' ? ` (it leads to ${inspected.host})` : '';
    // The link of a question about an account is already our page.
    const own =
      question.context.trigger === 'credential_required'
        ? ''
        : ` They can also see who asks, and answer by themselves, signed in, on this page: ${question.page}`;
    return `Show the user this link${host}, and do not open it yourself: ${question.url}\nWhen they have been there, call ${call('')}. ${otherwise}${own}`;
  }
  const reserved = reservedForUser(question);
  if (reserved !== null)
    return `${reserved}\nTell them what is asked. When they have decided there, call wait_for_turn. If they refuse, call ${fallbackTool} {"elicitId": "${elicitationId}", "action": "decline"}. The question is open until ${expiresAt}.`;
  const fields = fieldsAsText(question.requestedSchema);
  if (fields.length === 0) return `Ask the user exactly this. If they agree, call ${call('')}. ${otherwise}`;
  return [
    'Ask the user for:',
    ...fields,
    `Then call ${call(', "content": {…}')} with content that fits this schema: ${JSON.stringify(question.requestedSchema)}`,
    `${otherwise} Never ask for passwords, tokens or other secrets. They can also answer by themselves, signed in, on this page: ${question.page}`,
  ].join('\n');
}
