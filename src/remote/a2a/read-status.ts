/** Reads what a task asks, from its status: in the form of the extension, or in words. Pure. */
import { hash } from 'node:crypto';
import type { Message, TaskStatus } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { z } from 'zod';
import { elicitationExtension } from '../../a2a/extension.ts';
import { textOf } from '../../a2a/parts.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { AskedByTask, ServerQuestion } from '../input-required.ts';
import { readQuestion } from '../read-question.ts';
import { wordsField } from './messages.ts';

export type ReadStatus =
  | { kind: 'question'; question: ServerQuestion; asked: AskedByTask }
  | { kind: 'refused'; reason: string };

/** What the extension says of a question, as far as it is used here. */
const structuredSchema = z.looseObject({
  elicitationId: z.string().min(1).max(200),
  mode: z.enum(['form', 'url']),
  message: z.string(),
  expiresAt: z.iso.datetime({ offset: true }).optional().catch(undefined),
  misfit: z.string().optional().catch(undefined),
  context: z
    .looseObject({ arguments: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

type Structured = z.infer<typeof structuredSchema>;

/** What an answer takes to get there: later it would be refused. */
const travelMs = 1_000;

/** Two addresses could be told apart by nobody but the agent. */
const link = /https?:\/\/[^\s<>"'`]+/g;

export function isAsking({ state }: Pick<TaskStatus, 'state'>): boolean {
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
}

/** The same for the same question, however often it is read; another one for the next. */
export function fingerprintOf({ state, message, timestamp }: TaskStatus): string {
  const structured = structuredIn(message);
  const what = structured
    ? [structured.elicitationId, structured.misfit]
    : [state, message?.messageId, message?.parts, timestamp];
  return hash('sha256', JSON.stringify(what)).slice(0, 32);
}

export function readStatus(status: TaskStatus, capabilities: Capabilities): ReadStatus {
  const structured = structuredIn(status.message);
  const params = structured ? structuredParams(structured) : paramsInWords(status);
  const read = readQuestion(params, capabilities);
  if (read.kind === 'refused') return read;
  const fingerprint = fingerprintOf(status);
  const isAuthorization = status.state === TaskState.TASK_STATE_AUTH_REQUIRED;
  const expiresAt =
    structured?.expiresAt === undefined ? undefined : Date.parse(structured.expiresAt) - travelMs;
  return {
    kind: 'question',
    question: {
      key: fingerprint,
      request: read.request,
      trigger: isAuthorization ? 'a2a_auth_required' : 'a2a_input_required',
      ...(expiresAt !== undefined && { expiresAt }),
    },
    asked: {
      fingerprint,
      mode: read.request.mode,
      ...(structured && { elicitationId: structured.elicitationId }),
    },
  };
}

function structuredIn(message: Message | undefined): Structured | null {
  const candidates: unknown[] = [
    message?.metadata?.[elicitationExtension],
    ...(message?.parts ?? []).map(({ content }) => (content?.$case === 'data' ? content.value : undefined)),
  ];
  for (const candidate of candidates) {
    const { success, data } = structuredSchema.safeParse(candidate);
    if (success) return data;
  }
  return null;
}

function structuredParams({ message, misfit, context, ...rest }: Structured) {
  const words = [
    message,
    context?.arguments,
    misfit !== undefined && `Please answer again: ${misfit}`,
  ].filter((line) => typeof line === 'string' && line !== '');
  return { ...rest, message: words.join('\n\n') };
}

/** Without the extension: a link where there is exactly one, a field for words, or nothing but “yes” and “no”. */
function paramsInWords({ state, message }: TaskStatus) {
  const text =
    (message && textOf(onlyText(message))) || 'It needs something from you, and does not say what.';
  if (state !== TaskState.TASK_STATE_AUTH_REQUIRED) return form(text, wordsSchema);
  const links = new Set((text.match(link) ?? []).map(withoutPunctuation));
  const [url, ...others] = links;
  return url !== undefined && others.length === 0
    ? { mode: 'url', message: text, url }
    : form(text, { type: 'object', properties: {} });
}

/** What ends the sentence that a link stands in. A loop: a pattern for it is slow on text that was made so. */
function withoutPunctuation(link: string): string {
  let { length } = link;
  while (length > 0 && ').,;:!?]'.includes(link[length - 1] ?? '')) length -= 1;
  return link.slice(0, length);
}

const wordsSchema = {
  type: 'object',
  properties: { [wordsField]: { type: 'string', title: 'Your answer', minLength: 1 } },
  required: [wordsField],
};

function form(message: string, requestedSchema: Record<string, unknown>) {
  return { mode: 'form', message, requestedSchema };
}

function onlyText({ parts }: Message): Pick<Message, 'parts'> {
  return { parts: parts.filter(({ content }) => content?.$case === 'text') };
}
