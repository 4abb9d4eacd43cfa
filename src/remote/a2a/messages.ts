/** What is sent to a remote agent: a task in words, and an answer to what its task asks. Pure. */
import { hash } from 'node:crypto';
import type { Message, Part, SendMessageRequest } from '@a2a-js/sdk';
import { elicitationExtension } from '../../a2a/extension.ts';
import { dataPart, textPart, userMessage } from '../../a2a/parts.ts';
import { hopsKey } from '../../turn/hops.ts';
import type { AskedByTask, QuestionAnswer, RemoteTask } from '../input-required.ts';
import type { ToolCall } from '../tool-call.ts';

/** The field of the form by which a question in words is put to people. */
export const wordsField = 'answer';

/** The same call has the same message id in each attempt, so that an agent can recognise a repeated one. */
export function taskRequest({ callId, arguments: input, hops }: ToolCall): SendMessageRequest {
  const task = typeof input['task'] === 'string' ? input['task'] : '';
  const message = userMessage({ taskId: '', contextId: '' }, idOf(callId), [textPart(task)]);
  return request(message, hops);
}

/** `returnImmediately` is for agents that do not stream: their tasks are polled. */
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

/** Null where the agent needs none: it sees for itself that a page is done. */
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
