/** A message from a caller: it begins a task, or answers the question that a task waits with. */
import type { Message, SendMessageRequest } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import {
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { ClientIdSchema } from '../../contract/ids.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { ElicitationEvent, ElicitationResponse } from '../../elicitation/elicitation.ts';
import { fittedResponse } from '../../service/fitted-response.ts';
import { refusedAnswer } from '../../service/refused-answer.ts';
import type { Service } from '../../service/service.ts';
import { readHops } from '../../turn/hops.ts';
import { plainAnswer, structuredAnswer } from './answer.ts';
import type { ReadAnswer } from '../../elicitation/answer-in-words.ts';
import type { A2ACaller } from './caller.ts';
import { broughtBy } from '../../a2a/parts.ts';
import type { GivenMessage } from '../../service/turn-request.ts';
import { openTask } from './open-task.ts';
import type { OpenTask } from './open-task.ts';
import { isTerminal } from '../../a2a/task-view.ts';

export type SendParts = Pick<
  Service,
  | 'startTurn'
  | 'findTurn'
  | 'listTurns'
  | 'turnSoFar'
  | 'questionPage'
  | 'answerQuestion'
  | 'questionAnsweredUnder'
>;

type Caller = A2ACaller & { isStructured: boolean };

export async function takeMessage(
  service: SendParts,
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
 * Some clients (Google's ADK) answer with the context alone. The task that this message answers, now or when it was sent
 * before: the newest in the context, if exactly one of its questions is open. With more it could be for any of them.
 */
async function taskInContext(
  service: SendParts,
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
  // The message that began the task, sent again.
  const isItsFirst = task.view.task().history.some((one) => one.messageId === messageId);
  return isItsFirst ? null : turn.turnId;
}

async function beginTask(
  service: SendParts,
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

/** Which files are images, and whether the agent takes them, the service says. */
function contentOf(message: Message): GivenMessage['content'] {
  const brought = broughtBy(message);
  if (brought === null) throw new ContentTypeNotSupportedError('Send text, data or the bytes of an image.');
  if (brought === 'address')
    throw new ContentTypeNotSupportedError(
      'The service fetches nothing from addresses; send the bytes of the image.',
    );
  const { text, files } = brought;
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
  service: SendParts,
  agent: string,
  caller: Caller,
  message: Message,
): Promise<OpenTask> {
  const { principal, isStructured, address } = caller;
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
  // Sent again: what it said is on record, and the task may wait with another question by now.
  if (await service.questionAnsweredUnder(task.turn, idempotencyKey)) return task;
  if (isTerminal(task.view.state()))
    throw new UnsupportedOperationError(
      'The task is over. Send the message without taskId to go on in its context.',
    );
  const read = readAnswer(task, message, { isStructured });
  if (!read)
    throw new UnsupportedOperationError(
      'The task is at work and asks nothing. Wait for it, or cancel it, then send the message without taskId.',
    );
  const { question, answer } = read;
  if (answer.kind === 'misfit') {
    task.view.misfit(answer.reasons);
    return task;
  }
  const reasons = await give(service, caller, {
    question,
    response: answer.response,
    idempotencyKey,
    address,
  });
  const after = await open();
  if (reasons !== null) after.view.misfit(reasons);
  // Consent to a link leaves the question open until its page is done, and so it stays in sight.
  else if (question.mode === 'form') after.view.answered(question.elicitationId);
  return after;
}

/** Null when nothing is asked that the message could answer. */
function readAnswer(
  { view }: OpenTask,
  message: Message,
  { isStructured }: Pick<Caller, 'isStructured'>,
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

interface Given {
  question: ElicitationEvent;
  response: ElicitationResponse;
  idempotencyKey: string;
  address: string | null;
}

/** Null when it is on record; otherwise why the question stays open. */
async function give(
  service: Pick<Service, 'answerQuestion'>,
  { principal }: Caller,
  { question: { elicitationId, mode }, response, idempotencyKey, address }: Given,
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
