/**
 * A question as the status of a task: as text for every caller, and as data for callers that use our extension
 * (docs/a2a-elicitation.md). Pure.
 */
import { TaskState } from '@a2a-js/sdk';
import type { Message } from '@a2a-js/sdk';
import { z } from 'zod';
import type { ElicitationEvent, ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { personalKind, personalWords, withPersonalAsLink } from '@interlude-ai/core/elicitation/personal.ts';
import { fieldsAsText, quotedQuestionWords } from '@interlude-ai/core/elicitation/question-as-text.ts';
import { inspectUrl } from '@interlude-ai/core/elicitation/url-safety.ts';
import { presentMembers } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { agentMessage, dataPart, textPart } from './parts.ts';

/** The question that a task shows, and how many wait behind it. */
export interface ShownQuestion {
  question: ElicitationEvent;
  waiting: number;
  /** Our page, where the person can answer it, signed in. */
  page: string;
  /** What was wrong with the last answer. */
  misfit?: string | undefined;
}

interface Shown {
  taskId: string;
  contextId: string;
  /** The caller activated the extension. */
  isStructured: boolean;
}

/** AUTH_REQUIRED: answered outside the conversation, so the stream stays open. INPUT_REQUIRED: answered by a message. */
export function stateOf(question: ElicitationEvent): TaskState {
  const isElsewhere = question.mode === 'url' || personalKind(question) !== null;
  return isElsewhere ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED;
}

export function questionMessage({ question, waiting, misfit, page }: ShownQuestion, shown: Shown): Message {
  const { isStructured, ...ids } = shown;
  const structured = toStructured(withPersonalAsLink(question, page), misfit);
  const words = [
    quotedQuestionWords(question, misfit),
    whatToDo(question, page),
    waiting > 0 && `${waiting} more ${waiting === 1 ? 'question follows' : 'questions follow'}.`,
  ].filter((line) => typeof line === 'string');
  const parts = [textPart(words.join('\n\n')), ...(isStructured ? [dataPart(structured)] : [])];
  const message = agentMessage(ids, question.elicitationId, parts);
  if (!isStructured) return message;
  return {
    ...message,
    extensions: [elicitationExtension],
    metadata: { [elicitationExtension]: structured },
  };
}

function whatToDo(question: ElicitationEvent, page: string): string {
  const until = `It is open until ${question.expiresAt}.`;
  if (question.mode === 'url') {
    const inspected = inspectUrl(question.url);
    const host = inspected.kind === 'ok' ? ` (it leads to ${inspected.host})` : '';
    return `Show the user this link${host}, and do not open it yourself: ${question.url}\nThe task goes on by itself when they are done. If they refuse, answer “no”. ${until}`;
  }
  const kind = personalKind(question);
  if (kind !== null)
    return `${personalWords(kind, page)}\nThe task goes on by itself when they have. If they refuse, answer “no”. ${until}`;
  const fields = fieldsAsText(question.requestedSchema);
  const refusal = 'If the user refuses, answer “no”. Never decide for them.';
  if (fields.length === 0) return `Answer “yes” if the user agrees. ${refusal} ${until}`;
  const names = Object.keys(propertiesOf(question.requestedSchema));
  const how =
    names.length === 1
      ? 'Answer with the value in plain words, or with a JSON object'
      : 'Answer with a JSON object';
  return [
    'Ask the user for:',
    ...fields,
    `${how} that fits this schema: ${JSON.stringify(question.requestedSchema)}`,
    `${refusal} Never ask for passwords, tokens or other secrets. They can also answer by themselves, signed in, on this page: ${page}\n${until}`,
  ].join('\n');
}

function propertiesOf({ properties }: Record<string, unknown>): object {
  return typeof properties === 'object' && properties !== null ? properties : {};
}

export const elicitationExtension = 'urn:interlude:a2a:elicitation:v1';

/** For the metadata and the data part of a status message. */
function toStructured(question: ElicitationEvent, misfit?: string): Record<string, unknown> {
  const { elicitationId, mode, message, expiresAt, context } = question;
  const shape = mode === 'form' ? { requestedSchema: question.requestedSchema } : { url: question.url };
  return {
    elicitationId,
    mode,
    message,
    ...shape,
    expiresAt,
    context,
    ...(misfit !== undefined && { misfit }),
  };
}

const AnswerSchema = z.object({
  elicitationId: z.string().optional(),
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).optional(),
  remember: z.enum(['conversation', 'always']).optional(),
  reason: z.string().max(1_000).optional(),
});

export interface StructuredAnswer {
  elicitationId: string | undefined;
  response: ElicitationResponse;
}

/** Null if `value` is not meant as an answer. */
export function readStructured(value: unknown): StructuredAnswer | 'malformed' | null {
  if (typeof value !== 'object' || value === null || !('action' in value)) return null;
  const parsed = AnswerSchema.safeParse(presentMembers(value));
  if (!parsed.success) return 'malformed';
  const { elicitationId, action, content, remember, reason } = parsed.data;
  return {
    elicitationId,
    response: {
      action,
      ...(content !== undefined && { content }),
      ...(remember !== undefined && { remember }),
      ...(reason !== undefined && { reason }),
    },
  };
}
