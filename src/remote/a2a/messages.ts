/**
 * Messages to a remote agent, and the questions in the status of its task: in the form of the extension, or as text. Pure.
 */
import { hash } from 'node:crypto';
import { TaskState } from '@a2a-js/sdk';
import type { Message, Part, SendMessageRequest, TaskStatus } from '@a2a-js/sdk';
import { z } from 'zod';
import { elicitationExtension } from '../../api/a2a/vocabulary/question.ts';
import { dataPart, textOf, textPart, userMessage } from '../../api/a2a/vocabulary/parts.ts';
import { hopsKey } from '../../turn/turn.ts';
import type {
  AskedByTask,
  QuestionAnswer,
  RemoteTask,
  ServerQuestion,
} from '@interlude-ai/core/mcp/input-required.ts';
import type { ToolCall } from '../remote-servers.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { readQuestion } from '@interlude-ai/core/mcp/read-question.ts';

/** The only field of the form with which a question in text is asked. */
const wordsField = 'answer';

/** The message id is derived from the call, so that an agent can recognise a repeated message. */
export function taskRequest({ callId, arguments: input, hops }: ToolCall): SendMessageRequest {
  const task = typeof input['task'] === 'string' ? input['task'] : '';
  const message = userMessage({ taskId: '', contextId: '' }, idOf(callId), [textPart(task)]);
  return request(message, hops);
}

/** `returnImmediately` is for agents without streaming, whose tasks are polled. */
function request(message: Message, hops: number | undefined): SendMessageRequest {
  return {
    tenant: '',
    message:
      hops === undefined ? message : { ...message, metadata: { ...message.metadata, [hopsKey]: hops } },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    },
    metadata: undefined,
  };
}

/** Null where the agent needs no message, because it notices by itself that a page is done. */
export function answerRequest(
  { callId, hops }: Pick<ToolCall, 'callId' | 'hops'>,
  { taskId, contextId }: RemoteTask,
  asked: AskedByTask,
  answer: QuestionAnswer,
): SendMessageRequest | null {
  const { action, content } = answer;
  if (asked.mode === 'url' && action === 'accept') return null;
  const id = idOf(`${callId}/${asked.fingerprint}`);
  const ids = { taskId, contextId };
  if (asked.elicitationId === undefined) return request(userMessage(ids, id, [words(answer)]), hops);
  const structured = {
    elicitationId: asked.elicitationId,
    action,
    ...(content !== undefined && { content }),
  };
  const message = {
    ...userMessage(ids, id, [dataPart(structured)]),
    extensions: [elicitationExtension],
    metadata: { [elicitationExtension]: structured },
  };
  return request(message, hops);
}

function words({ action, content }: QuestionAnswer): Part {
  switch (action) {
    case 'accept': {
      const said = content?.[wordsField];
      return textPart(typeof said === 'string' ? said : 'Yes.');
    }
    case 'decline':
      return textPart('No. The user declined to answer.');
    case 'cancel':
      return textPart('No. The user closed the question, or did not answer in time.');
    default:
      return action satisfies never;
  }
}

function idOf(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

type ReadStatus =
  | { kind: 'question'; question: ServerQuestion; asked: AskedByTask }
  | { kind: 'refused'; reason: string };

/** The members of the extension that are used. */
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

/** An answer needs this long to arrive before the deadline. */
const travelMs = 1_000;

/** Of two links, only the agent would know which one is meant. */
const link = /https?:\/\/[^\s<>"'`]+/g;

export function isAsking({ state }: Pick<TaskStatus, 'state'>): boolean {
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
}

/** Stays the same however often the same question is read, and differs for the next one. */
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

/** Without the extension: a link if the text contains exactly one, else a text field, or only “yes” and “no”. */
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

/** Removes punctuation after a link. A loop, because a regular expression is slow on hostile text. */
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
