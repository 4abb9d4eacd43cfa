/** A client of the official SDK at one of our agents, as a user's program would have it. */
import { randomUUID } from 'node:crypto';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';
import type {
  Message,
  Part,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { Service } from '../../service/service.ts';

export const elicitationExtension = 'urn:interlude:a2a:elicitation:v1';

export interface AgentClientOptions {
  user?: string;
  agent?: string;
  transport?: 'JSONRPC' | 'HTTP+JSON';
  /** HTTP+JSON is of 1.0 only. */
  version?: '1.0' | '0.3';
  /** With the extension for questions. */
  extension?: boolean;
  /** Instead of a user's token. */
  token?: string;
  headers?: Record<string, string>;
}

export interface Said {
  taskId?: string;
  contextId?: string;
  messageId?: string;
  metadata?: Record<string, unknown>;
  returnImmediately?: boolean;
  /** Where to be notified. */
  push?: TaskPushNotificationConfig;
}

export interface AgentClient {
  client: Client;
  options: RequestOptions;
  send(parts: string | object, said?: Said): Promise<Task>;
  stream(parts: string | object, said?: Said): AsyncGenerator<StreamResponse, void, undefined>;
  get(id: string): Promise<Task>;
}

export async function connectAgent(
  service: Pick<Service, 'baseUrl' | 'token'>,
  {
    user = 'alice',
    agent = 'assistant',
    transport = 'JSONRPC',
    version = '1.0',
    ...rest
  }: AgentClientOptions = {},
): Promise<AgentClient> {
  const token = rest.token ?? (await service.token(user));
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(rest.headers ?? {})) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
  const all = { fetchImpl, legacyCompat: { enabled: true } };
  const transports = [new JsonRpcTransportFactory(all), new RestTransportFactory({ fetchImpl })];
  const card = await new DefaultAgentCardResolver(all).resolve(`${service.baseUrl}/run/agents/${agent}/a2a/`);
  const client = await new ClientFactory({ transports }).createFromAgentCard({
    ...card,
    supportedInterfaces: card.supportedInterfaces.filter(
      (one) => one.protocolBinding === transport && one.protocolVersion === version,
    ),
  });
  const options: RequestOptions = rest.extension
    ? { serviceParameters: ServiceParameters.create(withA2AExtensions(elicitationExtension)) }
    : {};
  return {
    client,
    options,
    async send(parts, said) {
      const result = await client.sendMessage(request(parts, said), options);
      if (!('status' in result)) throw new Error('a message came where a task was awaited');
      return result;
    },
    stream: (parts, said) => client.sendMessageStream(request(parts, said), options),
    get: (id) => client.getTask({ id, tenant: '' }, options),
  };
}

function request(parts: string | object, said: Said = {}): SendMessageRequest {
  const { returnImmediately = false, push: taskPushNotificationConfig, ...rest } = said;
  const message: Message = {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: Array.isArray(parts) ? parts.map(partOf) : [partOf(parts)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...rest,
  };
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately };
  return { tenant: '', message, configuration, metadata: undefined };
}

function partOf(part: string | object): Part {
  const rest = { mediaType: '', filename: '', metadata: undefined };
  if (part instanceof Buffer)
    return { content: { $case: 'raw', value: part }, ...rest, mediaType: 'image/png' };
  return typeof part === 'string'
    ? { content: { $case: 'text', value: part }, ...rest }
    : { content: { $case: 'data', value: part }, ...rest };
}

export function stateOf({ status }: Pick<Task, 'status'>): string {
  return TaskState[status?.state ?? TaskState.UNRECOGNIZED].replace('TASK_STATE_', '');
}

/** What the task says now. */
export function wordsOf({ status }: Pick<Task, 'status'>): string {
  return textOf(status?.message?.parts);
}

export function answerOf({ artifacts }: Pick<Task, 'artifacts'>): string {
  return artifacts.map(({ parts }) => textOf(parts)).join('');
}

function textOf(parts: Part[] = []): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** Resolves once the stream has begun, so it sees every later event. `end`: see `readStream`. */
export async function watch(
  stream: AsyncGenerator<StreamResponse>,
): Promise<{ end: ReturnType<typeof readStream> }> {
  const first = await stream.next();
  async function* all() {
    if (!first.done) yield first.value;
    yield* stream;
  }
  return { end: readStream(all()) };
}

/** The states of a stream in order, and the answer as a reader of it puts it together. */
export async function readStream(stream: AsyncIterable<StreamResponse>) {
  const states: string[] = [];
  let answer = '';
  let last: Task | undefined;
  for await (const { payload } of stream) {
    if (payload?.$case === 'task') {
      last = payload.value;
      answer = answerOf(last);
      states.push(stateOf(last));
    } else if (payload?.$case === 'statusUpdate') {
      states.push(stateOf(payload.value));
      if (last) last = { ...last, status: payload.value.status };
    } else if (payload?.$case === 'artifactUpdate') {
      const text = textOf(payload.value.artifact?.parts);
      answer = payload.value.append ? answer + text : text;
    }
  }
  return { states: states.filter((state, index) => state !== states[index - 1]), answer, last };
}
