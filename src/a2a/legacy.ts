/**
 * A2A 0.3. The SDK translates cards and tasks only as part of answering a request, so we make one. For HTTP+JSON it exports
 * no codec: that of the protobuf messages of 0.3 as JSON is below, and differs from both 1.0 and the JSON-RPC of 0.3. Members
 * are read in camel case and in snake case, which Python's client writes. Pure.
 */
import { Artifact, Message, SendMessageRequest, TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk';
import type { AgentCard, Task, Part, StreamResponse, TaskStatus } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';

export function toLegacyCard(card: AgentCard): Promise<Record<string, unknown>> {
  return answerOf(
    { getAuthenticatedExtendedAgentCard: async () => card },
    'agent/getAuthenticatedExtendedCard',
  );
}

export function toLegacyTask(task: Task): Promise<Record<string, unknown>> {
  return answerOf({ getTask: async () => task }, 'tasks/get', { id: task.id });
}

async function answerOf(
  handler: Partial<A2ARequestHandler>,
  method: string,
  params?: object,
): Promise<Record<string, unknown>> {
  const request = { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
  const transport = new LegacyJsonRpcTransportHandler(handler as A2ARequestHandler);
  const answer = await transport.handle(request, new ServerCallContext());
  if (!('result' in answer)) throw new Error(`A2A 0.3 has no answer to ${method}`);
  return answer.result as unknown as Record<string, unknown>;
}

type Json = Record<string, unknown>;

export function readLegacySend(body: unknown): SendMessageRequest {
  const request = objectOf(body);
  const message = member(request, 'message') ?? member(request, 'request');
  const configuration = member(request, 'configuration');
  return SendMessageRequest.fromJSON({
    ...(isObject(message) && { message: readMessage(message) }),
    // In protobuf a missing member is false or 0: a configuration without `blocking` does not block.
    ...(isObject(configuration) && {
      configuration: {
        acceptedOutputModes: member(configuration, 'acceptedOutputModes'),
        historyLength: member(configuration, 'historyLength') || undefined,
        returnImmediately: member(configuration, 'blocking') !== true,
        taskPushNotificationConfig: readTarget(member(configuration, 'pushNotification')),
      },
    }),
    metadata: request['metadata'],
  });
}

/** `taskId`: from the address; the body's is ignored. */
export function readLegacyConfig(body: unknown, taskId: string): TaskPushNotificationConfig {
  const given = objectOf(body);
  const config = objectOf(member(given, 'config') ?? given);
  return TaskPushNotificationConfig.fromJSON({
    ...readTarget(member(config, 'pushNotificationConfig') ?? {}),
    taskId,
  });
}

export function writeLegacyTask({ id, contextId, status, artifacts, history, metadata }: Task): Json {
  return {
    id,
    contextId,
    ...(status && { status: writeStatus(status) }),
    artifacts: artifacts.map(writeArtifact),
    history: history.map(writeLegacyMessage),
    ...(metadata && { metadata }),
  };
}

export function writeLegacyMessage(message: Message): Json {
  const { parts: _, ...rest } = Message.toJSON(message) as Json;
  return { ...rest, content: message.parts.map(writePart) };
}

export function writeLegacyEvent({ payload }: StreamResponse): Json {
  switch (payload?.$case) {
    case 'task':
      return { task: writeLegacyTask(payload.value) };
    case 'message':
      return { message: writeLegacyMessage(payload.value) };
    case 'statusUpdate': {
      const { taskId, contextId, status } = payload.value;
      const final = status !== undefined && endStates.includes(status.state);
      return { statusUpdate: { taskId, contextId, ...(status && { status: writeStatus(status) }), final } };
    }
    case 'artifactUpdate': {
      const { taskId, contextId, artifact, append, lastChunk } = payload.value;
      const written = artifact && { artifact: writeArtifact(artifact) };
      return { artifactUpdate: { taskId, contextId, ...written, append, lastChunk } };
    }
    default:
      return {};
  }
}

export function writeLegacyConfig({ taskId, id, url, authentication }: TaskPushNotificationConfig): Json {
  return {
    name: `tasks/${taskId}/pushNotificationConfigs/${id}`,
    pushNotificationConfig: {
      id,
      url,
      ...(authentication && { authentication: { schemes: [authentication.scheme] } }),
    },
  };
}

const endStates = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];

function writeStatus({ state, message, timestamp }: TaskStatus): Json {
  return {
    // Clients of 0.3 spell this name in two ways; the number is the same for all.
    state: state === TaskState.TASK_STATE_CANCELED ? Number(state) : TaskState[state],
    ...(message && { message: writeLegacyMessage(message) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}

function writeArtifact(artifact: Artifact): Json {
  const written = Artifact.toJSON(artifact) as Json;
  return { ...written, parts: artifact.parts.map(writePart) };
}

function writePart({ content, mediaType, metadata }: Part): Json {
  const common = metadata ? { metadata } : {};
  const mimeType = mediaType === '' ? {} : { mimeType: mediaType };
  switch (content?.$case) {
    case 'text':
      return { text: content.value, ...common };
    case 'data':
      return {
        data: { data: isObject(content.value) ? content.value : { value: content.value } },
        ...common,
      };
    case 'url':
      return { file: { fileWithUri: content.value, ...mimeType }, ...common };
    case 'raw':
      return {
        file: { fileWithBytes: Buffer.from(content.value).toString('base64'), ...mimeType },
        ...common,
      };
    default:
      return common;
  }
}

function readMessage(message: Json): Json {
  const content = message['content'];
  return {
    messageId: member(message, 'messageId'),
    contextId: member(message, 'contextId'),
    taskId: member(message, 'taskId'),
    role: message['role'],
    extensions: message['extensions'],
    metadata: message['metadata'],
    parts: Array.isArray(content) ? content.map(readPart) : [],
  };
}

function readPart(part: unknown): Json {
  const { text, data, file, metadata } = objectOf(part);
  if (text !== undefined && text !== null) return { text, metadata };
  if (isObject(data)) return { data: data['data'], metadata };
  if (!isObject(file)) return {};
  const mediaType = member(file, 'mimeType');
  const filename = file['name'];
  const url = member(file, 'fileWithUri');
  return url === undefined
    ? { raw: member(file, 'fileWithBytes') ?? '', mediaType, filename, metadata }
    : { url, mediaType, filename, metadata };
}

function readTarget(target: unknown): Json | undefined {
  if (!isObject(target)) return undefined;
  const { id, url, token, authentication } = target;
  const schemes = isObject(authentication) ? authentication['schemes'] : undefined;
  return {
    id,
    url,
    token,
    ...(isObject(authentication) && {
      authentication: {
        scheme: Array.isArray(schemes) ? schemes[0] : undefined,
        credentials: authentication['credentials'],
      },
    }),
  };
}

function member(of: Json, name: string): unknown {
  return of[name] ?? of[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
