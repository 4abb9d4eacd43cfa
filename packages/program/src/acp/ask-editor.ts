/** Puts one question to the editor, once. */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  CreateElicitationRequest,
  ElicitationPropertySchema,
  ElicitationSchema,
  PermissionOption,
  RequestPermissionRequest,
} from '@agentclientprotocol/sdk';
import type { Decision } from '@interlude-ai/client/answer-questions.ts';
import { isRecord } from '@interlude-ai/client/interlude-error.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import type {
  Capabilities,
  ElicitationRequest as Question,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import type { Choice, Field, NumberInput } from '@interlude-ai/core/elicitation/form/field.ts';
import { fieldsOf } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { questionWords } from '@interlude-ai/core/elicitation/question-as-text.ts';
import { isSafeToOpen } from '@interlude-ai/core/elicitation/url-safety.ts';
import type { Editor } from './editor.ts';
import { inCode, permissionKind, textContent } from './updates.ts';

type Asked =
  | { kind: 'decision'; decision: Decision }
  /** The editor has no dialog of this kind. */
  | { kind: 'no-mode' }
  /** No decision: an error, an invalid reply, or a dialog that closed by itself. */
  | { kind: 'none' };

interface Asking {
  editor: Editor;
  place: Place;
  /** What was wrong with the previous answer. */
  misfit: string | undefined;
  isPrompting: () => boolean;
  signal: AbortSignal;
}

/** A client that is about to leave or to cancel closes its dialogs first. */
const afterthoughtMs = 200;

export async function askEditor(
  question: ElicitationRequest,
  { editor, place, misfit, isPrompting, signal }: Asking,
): Promise<Asked> {
  const request = toRequest(question, place, { modes: editor.modes, misfit });
  if (request.kind === 'no-mode') return request;
  const isInPrompt = isPrompting();
  const reply = await send(question, request, { editor, signal });
  if (reply.kind !== 'dismissed') return reply;
  if (!isInPrompt) return { kind: 'none' };
  await delay(afterthoughtMs, undefined, { signal: AbortSignal.any([signal, editor.closed]) }).catch(
    () => undefined,
  );
  const isDecided = isPrompting() && !signal.aborted && !editor.closed.aborted;
  return isDecided ? { kind: 'decision', decision: { action: 'cancel' } } : { kind: 'none' };
}

async function send(
  question: ElicitationRequest,
  request: Exclude<ReturnType<typeof toRequest>, { kind: 'no-mode' }>,
  { editor, signal }: Pick<Asking, 'editor' | 'signal'>,
): Promise<ReadReply> {
  try {
    return request.kind === 'permission'
      ? readPermission(await editor.requestPermission(request.params, signal))
      : readElicitation(question, await editor.elicit(request.params, signal));
  } catch {
    // The client refused it, or is gone.
    return { kind: 'none' };
  }
}

// Question → request to the editor.

interface Place {
  sessionId: string;
  /** The call as the editor knows it; undefined if it was not sent to the editor. */
  toolCallId: string | undefined;
}

type EditorRequest =
  | { kind: 'permission'; params: RequestPermissionRequest }
  | { kind: 'elicitation'; params: CreateElicitationRequest }
  /** The editor has not declared this mode, or must not open the address. */
  | { kind: 'no-mode' };

/** `misfit`: what was wrong with the previous answer. */
export function toRequest(
  question: ElicitationRequest,
  { sessionId, toolCallId }: Place,
  { modes, misfit }: { modes: Capabilities; misfit: string | undefined },
): EditorRequest {
  if (isApproval(question.context))
    return { kind: 'permission', params: toPermission(question, { sessionId, toolCallId }) };
  if (!modes[question.mode]) return { kind: 'no-mode' };
  const scope = { sessionId, ...(toolCallId !== undefined && { toolCallId }) };
  const message = wordsOf(question, misfit);
  if (question.mode === 'url') {
    const { elicitationId, url } = question;
    if (!isSafeToOpen(url)) return { kind: 'no-mode' };
    return { kind: 'elicitation', params: { ...scope, mode: 'url', elicitationId, url, message } };
  }
  const requestedSchema = toAcpSchema(fieldsOf(question.requestedSchema));
  return { kind: 'elicitation', params: { ...scope, mode: 'form', message, requestedSchema } };
}

export function wordsOf(question: ElicitationRequest, misfit?: string): string {
  // The published type lets unknown triggers pass.
  return questionWords(question as Question, misfit);
}

/** By the id of the option. */
const permissionAnswers = {
  'allow-once': { action: 'accept' },
  'allow-conversation': { action: 'accept', remember: 'conversation' },
  'allow-always': { action: 'accept', remember: 'always' },
  reject: { action: 'decline' },
} as const;

/** Clients that approve by themselves take the first option of a kind, so the narrowest comes first. */
const options: (PermissionOption & { optionId: keyof typeof permissionAnswers })[] = [
  { optionId: 'allow-once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow-conversation', name: 'Allow in this conversation', kind: 'allow_always' },
  { optionId: 'allow-always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];

function toPermission(
  { elicitationId, message, context }: ElicitationRequest,
  { sessionId, toolCallId }: Place,
): RequestPermissionRequest {
  const shown = context.arguments === undefined ? '' : inCode(context.arguments, 'json');
  return {
    sessionId,
    toolCall: {
      toolCallId: toolCallId ?? elicitationId,
      title: message,
      kind: permissionKind(context.toolName ?? ''),
      status: 'pending',
      content: textContent(shown),
    },
    options,
  };
}

// Form → ACP schema. It is built from the fields instead of cut down from the server's schema, because clients refuse keywords and
// formats that they do not know. What ACP cannot express goes into the description, and the service checks it.

function toAcpSchema(fields: readonly Field[]): ElicitationSchema {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, toProperty(field)])),
    ...(required.length > 0 && { required }),
  };
}

function toProperty(field: Field): ElicitationPropertySchema {
  const { title } = field;
  const description = [field.description, ...(field.kind === 'number' ? numberInWords(field) : [])]
    .filter((words) => words !== undefined)
    .join(' ');
  const about = { title, ...(description !== '' && { description }) };
  switch (field.kind) {
    case 'text':
      return {
        type: 'string',
        ...about,
        ...given(field, ['minLength', 'maxLength', 'pattern', 'format', 'default']),
      };
    case 'number':
      return {
        type: field.isInteger ? 'integer' : 'number',
        ...about,
        ...given(field, ['minimum', 'maximum', 'default']),
      };
    case 'boolean':
      return { type: 'boolean', ...about, ...given(field, ['default']) };
    case 'choice':
      return { type: 'string', ...about, ...toChoices(field.choices), ...given(field, ['default']) };
    case 'choices':
      return {
        type: 'array',
        ...about,
        items: toItems(field.choices),
        ...given(field, ['minItems', 'maxItems', 'default']),
      };
    default:
      return field satisfies never;
  }
}

function given<Input extends object, Name extends keyof Input>(
  input: Input,
  names: Name[],
): Pick<Input, Name> {
  const members = names.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]]));
  return Object.fromEntries(members) as Pick<Input, Name>;
}

const isPlain = ({ value, title }: Choice) => value === title;

function toChoices(choices: Choice[]) {
  return choices.every(isPlain) ? { enum: choices.map(({ value }) => value) } : { oneOf: toOptions(choices) };
}

function toItems(choices: Choice[]) {
  return choices.every(isPlain)
    ? ({ type: 'string', enum: choices.map(({ value }) => value) } as const)
    : { anyOf: toOptions(choices) };
}

function toOptions(choices: Choice[]) {
  return choices.map(({ value, title }) => ({ const: value, title }));
}

function numberInWords({ exclusiveMinimum, exclusiveMaximum, multipleOf }: NumberInput): string[] {
  return [
    exclusiveMinimum === undefined ? [] : [`More than ${exclusiveMinimum}.`],
    exclusiveMaximum === undefined ? [] : [`Less than ${exclusiveMaximum}.`],
    multipleOf === undefined ? [] : [`A multiple of ${multipleOf}.`],
  ].flat();
}

// Reply → decision. The SDK checks nothing of it: anything that is not a person's decision leaves the question open.

type ReadReply =
  | { kind: 'decision'; decision: Decision }
  /** The dialog was closed, by a person or by a program: only the timing tells which. */
  | { kind: 'dismissed' }
  | { kind: 'none' };

export function readElicitation(question: ElicitationRequest, reply: unknown): ReadReply {
  if (!isRecord(reply)) return none;
  switch (reply['action']) {
    case 'accept':
      return question.mode === 'url'
        ? decided({ action: 'accept' })
        : readContent(question, reply['content']);
    case 'decline':
      return decided({ action: 'decline' });
    case 'cancel':
      return { kind: 'dismissed' };
    default:
      return none;
  }
}

export function readPermission(reply: unknown): ReadReply {
  const outcome = isRecord(reply) ? reply['outcome'] : undefined;
  if (!isRecord(outcome)) return none;
  if (outcome['outcome'] === 'cancelled') return { kind: 'dismissed' };
  const { optionId } = outcome;
  const isOurs = typeof optionId === 'string' && Object.hasOwn(permissionAnswers, optionId);
  if (outcome['outcome'] !== 'selected' || !isOurs) return none;
  return decided(permissionAnswers[optionId as keyof typeof permissionAnswers]);
}

/** Whether it fits the form is checked by the service, as for every surface. */
function readContent(question: Extract<ElicitationRequest, { mode: 'form' }>, given: unknown): ReadReply {
  const content = coerceContent(fieldsOf(question.requestedSchema), isRecord(given) ? given : {});
  return decided({ action: 'accept', content });
}

function decided(decision: Decision): ReadReply {
  return { kind: 'decision', decision };
}

const none: ReadReply = { kind: 'none' };
