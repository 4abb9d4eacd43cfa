/** A message from a caller: it begins a task, or answers a task's open question. */
import { Role } from '@a2a-js/sdk';
import type { Message, SendMessageRequest } from '@a2a-js/sdk';
import {
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationEvent, ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { fittedResponse } from '../../service/answer-content.ts';
import { refusedAnswer } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import { readHops } from '../../turn/turn.ts';
import { answerInWords } from '@interlude-ai/core/elicitation/answer-in-words.ts';
import type { ReadAnswer } from '@interlude-ai/core/elicitation/answer-in-words.ts';
import { contentsOf } from './vocabulary/parts.ts';
import type { GivenMessage } from '../../service/take-images.ts';
import { isTerminal } from './vocabulary/task-view.ts';
import { elicitationExtension, readStructured } from './vocabulary/question.ts';
import type { StructuredAnswer } from './vocabulary/question.ts';
import type { A2ACaller } from './caller.ts';
import { openTask } from './open-task.ts';
import type { OpenTask } from './open-task.ts';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

type Caller = A2ACaller & { isStructured: boolean };

/** The SDK reads an id that is absent as `''`. */
export async function takeMessage(
  service: Service,
  agent: string,
  caller: Caller,
  { message }: SendMessageRequest,
): Promise<OpenTask> {
  if (!message) throw new RequestMalformedError('message is missing.');
  if (!ClientIdSchema.safeParse(message.messageId).success)
    throw new RequestMalformedError(
      'messageId: use 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-".',
    );
  if (message.role !== Role.ROLE_USER)
    throw new RequestMalformedError('role: messages to an agent are ROLE_USER.');
  if (message.parts.length === 0) throw new RequestMalformedError('parts: send at least one.');
  const taskId =
    message.taskId === '' ? await taskInContext(service, agent, caller, message) : message.taskId;
  return taskId === null
    ? beginTask(service, agent, caller, message)
    : answerTask(service, agent, caller, { ...message, taskId });
}

/**
 * Some clients (Google's ADK) answer with only the context id. Returns the newest task of the context if exactly one of its
 * questions is open (with more, the message could be for any of them), or if this message answered it before. Null: the message
 * begins a task.
 */
async function taskInContext(
  service: Service,
  agent: string,
  { principal, isStructured }: Caller,
  { contextId, messageId }: Message,
): Promise<string | null> {
  if (!ClientIdSchema.safeParse(contextId).success) return null;
  const filter = { agent, conversation: contextId };
  const [turn] = (await service.listTurns(principal, filter, { after: null, limit: 1 })).turns;
  if (!turn) return null;
  if (await service.questionAnsweredUnder(turn, `a2a/${messageId}`)) return turn.turnId;
  const task = await openTask(service, turn, { isStructured });
  if (task?.view.open().length !== 1) return null;
  // If this is the message that began the task, sent again, it is not an answer.
  const isItsFirst = task.view.task().history.some((one) => one.messageId === messageId);
  return isItsFirst ? null : turn.turnId;
}

async function beginTask(
  service: Service,
  agent: string,
  caller: Caller,
  message: Message,
): Promise<OpenTask> {
  const { principal, isStructured } = caller;
  const content = contentOf(message);
  if (message.contextId !== '' && !ClientIdSchema.safeParse(message.contextId).success)
    throw new RequestMalformedError('contextId: this is not the id of a context.');
  const turn = await service.startTurn(principal, {
    conversation: message.contextId === '' ? undefined : message.contextId,
    messages: [{ id: message.messageId, role: 'user', content }],
    agent,
    capabilities: principal.kind === 'user' ? { url: true, form: true } : cannotAsk,
    onBusy: 'refuse',
    hops: readHops(message.metadata),
    repetition: { kind: 'named', key: `a2a/${agent}/${message.messageId}` },
  });
  const task = await openTask(service, turn, { isStructured });
  if (!task) throw new TaskNotFoundError();
  return task;
}

/** The service checks which files are images, and whether the agent takes any. */
function contentOf(message: Message): GivenMessage['content'] {
  const contents = contentsOf(message);
  if (contents === null) throw new ContentTypeNotSupportedError('Send text, data or the bytes of an image.');
  if (contents === 'address')
    throw new ContentTypeNotSupportedError(
      'The service fetches nothing from addresses; send the bytes of the image.',
    );
  const { text, files } = contents;
  if (text === '' && files.length === 0)
    throw new RequestMalformedError('parts: there is no text and no image in them.');
  const images = files.map(({ bytes, at }) => ({
    type: 'image' as const,
    base64: Buffer.from(bytes).toString('base64'),
    at: ['parts', String(at)],
  }));
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...images];
}

async function answerTask(
  service: Service,
  agent: string,
  caller: Caller,
  message: Message,
): Promise<OpenTask> {
  const { principal, isStructured } = caller;
  const { taskId, contextId, messageId } = message;
  const open = async () => {
    const found = await service.findTurn(principal, { turnId: taskId });
    const task = found?.agent === agent ? await openTask(service, found.turn, { isStructured }) : null;
    if (!task) throw new TaskNotFoundError(`You have no task ${taskId} with this agent.`);
    return task;
  };
  const task = await open();
  if (contextId !== '' && contextId !== task.turn.conversation)
    throw new RequestMalformedError('contextId: the task belongs to another context.');
  const idempotencyKey = `a2a/${messageId}`;
  // Sent again: it is recorded already, and the task may have another question by now.
  if (await service.questionAnsweredUnder(task.turn, idempotencyKey)) return task;
  if (isTerminal(task.view.state()))
    throw new UnsupportedOperationError(
      'The task is over. Send the message without taskId to go on in its context.',
    );
  const read = readAnswer(task, message, caller);
  if (!read)
    throw new UnsupportedOperationError(
      'The task is at work and asks nothing. Wait for it, or cancel it, then send the message without taskId.',
    );
  const { question, answer } = read;
  if (answer.kind === 'misfit') {
    task.view.misfit(answer.reasons);
    return task;
  }
  const reasons = await recordAnswer(service, caller, question, answer.response, idempotencyKey);
  const after = await open();
  if (reasons !== null) after.view.misfit(reasons);
  // A link's question stays open, and shown, until its page is done.
  else if (question.mode === 'form') after.view.answered(question.elicitationId);
  return after;
}

/** Null if there is no question that the message could answer. */
function readAnswer(
  { view }: OpenTask,
  message: Message,
  { isStructured }: Caller,
): { question: ElicitationEvent; answer: ReadAnswer } | null {
  const shown = view.shown();
  const structured = isStructured ? structuredAnswer(message) : null;
  if (structured === null) return shown && { question: shown, answer: plainAnswer(message, shown) };
  if (structured === 'malformed')
    return (
      shown && {
        question: shown,
        answer: { kind: 'misfit', reasons: 'The answer is not in the form that the extension asks for.' },
      }
    );
  const { elicitationId, response } = structured;
  const question =
    elicitationId === undefined
      ? shown
      : view.open().find((candidate) => candidate.elicitationId === elicitationId);
  return question
    ? { question, answer: { kind: 'response', response: fittedResponse(question, response) } }
    : null;
}

/** Null if the answer was recorded, else why the question stays open. */
async function recordAnswer(
  service: Service,
  { principal, address }: Caller,
  { elicitationId, mode }: ElicitationEvent,
  response: ElicitationResponse,
  idempotencyKey: string,
): Promise<string | null> {
  try {
    await service.answerQuestion(principal, {
      elicitationId,
      response,
      address,
      idempotencyKey,
      mayBeModel: true,
    });
    return null;
  } catch (error) {
    const refused = refusedAnswer(error);
    if (!refused) throw error;
    switch (refused.kind) {
      case 'misfit':
        return refused.reasons;
      case 'person':
        return mode === 'url' ? null : refused.message;
      case 'over':
        throw error;
      default:
        return refused satisfies never;
    }
  }
}

/**
 * An answer in the extension's form, anywhere in the message; null if there is none. Call it only if the request activated the
 * extension: other callers did not promise to pass on a person's decision.
 */
function structuredAnswer({ metadata, parts }: Message): StructuredAnswer | 'malformed' | null {
  const inMetadata = readStructured(metadata?.[elicitationExtension]);
  if (inMetadata !== null) return inMetadata;
  for (const { content } of parts) {
    const inPart = content?.$case === 'data' ? readStructured(content.value) : null;
    if (inPart !== null && inPart !== 'malformed' && inPart.elicitationId !== undefined) return inPart;
  }
  return null;
}

/** An answer as text, or an object with the fields of the form. */
function plainAnswer({ parts }: Message, question: ElicitationEvent): ReadAnswer {
  const contents = parts.map(({ content }) => content);
  const data = contents.find((content) => content?.$case === 'data')?.value as unknown;
  const text = contents
    .flatMap((content) => (content?.$case === 'text' ? [content.value] : []))
    .join('\n')
    .trim();
  return answerInWords({ text, ...(isRecord(data) && { object: data }) }, question);
}

/** A message to a task or in a context may be an answer; only the rows of the task tell. `body`: of either binding. */
export function mayBeAnswer(body: unknown): boolean {
  const { params, message = (Object(params) as { message?: unknown }).message } = Object(body) as {
    params?: unknown;
    message?: unknown;
  };
  const given = Object(message) as Record<string, unknown>;
  return ['taskId', 'task_id', 'contextId', 'context_id'].some((name) => Boolean(given[name]));
}
