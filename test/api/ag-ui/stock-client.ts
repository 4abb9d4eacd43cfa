/** The stock clients of AG-UI at one of our agents. Every event they get is checked against AG-UI's own schema. */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import type { Event, Interrupt, Message, ResumeEntry, Tool } from '@ag-ui/core';
import { HttpAgent as EarlierHttpAgent } from 'ag-ui-client-0.0.59';
import { expect } from 'vitest';
import type { Service } from '../../service/service.ts';

/** `python`: an `HttpAgent` of 1.0.0 whose requests are made by Python (python-client.ts). */
export type Version = '1.0.0' | '0.0.59' | 'python';

export interface ClientOptions {
  version?: Version;
  user?: string;
  agent?: string;
  threadId?: string;
  messages?: Message[];
  /** Makes the requests. */
  fetch?: typeof fetch | undefined;
}

export interface Run {
  events: Event[];
  types: string[];
  interrupts: Interrupt[];
  /** Of the event that ended the run. */
  outcome: string | undefined;
}

interface RunOptions {
  resume?: ResumeEntry[];
  tools?: Tool[];
  runId?: string;
  /** The stream is cut at the first event of this type. */
  cutAt?: string;
}

export interface StockClient {
  threadId: string;
  agent: HttpAgent;
  /** Says `text` if it is given, and runs the agent. */
  run(text?: string, options?: RunOptions): Promise<Run>;
  /** Adds the result of each of these tools of the front end that was called and has none, as front ends do. */
  runTools(results: Record<string, string>): void;
  /** Answers every open interrupt with this payload. */
  resolve(payload?: unknown): Promise<Run>;
  /** The texts of the agent's messages. */
  texts(): string[];
}

export function runUrl(service: Pick<Service, 'baseUrl'>, agent = 'assistant'): string {
  return `${service.baseUrl}/run/agents/${agent}/ag-ui`;
}

export async function connect(
  service: Pick<Service, 'baseUrl' | 'token' | 'begun'>,
  options: ClientOptions = {},
): Promise<StockClient> {
  const { version = '1.0.0', user = 'alice', threadId = randomUUID(), messages = [] } = options;
  const request = options.fetch ?? fetch;
  const Client = version === '0.0.59' ? (EarlierHttpAgent as unknown as typeof HttpAgent) : HttpAgent;
  let events: Event[] = [];
  let cutAt: string | undefined;
  const agent = new Client({
    url: runUrl(service, options.agent),
    threadId,
    initialMessages: messages,
    headers: { authorization: `Bearer ${await service.token(user)}` },
    fetch: async (url, init) => {
      const response = await request(url, init);
      if (!response.ok || !response.body) return response;
      return new Response(quietlyCancelled(response.body.pipeThrough(recording())), response);
    },
  });
  service.begun(threadId);

  /** Passes the bytes on, up to the event of type `cutAt`. */
  function recording(): TransformStream<Uint8Array, Uint8Array> {
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    let rest = '';
    return new TransformStream({
      transform(chunk, controller) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          controller.enqueue(encoder.encode(`${block}\n\n`));
          const event = eventIn(block);
          if (event) events.push(event);
          if (event && event.type === cutAt) return controller.terminate();
        }
      },
    });
  }

  const client: StockClient = {
    threadId,
    agent,
    async run(text, { cutAt: cut, ...parameters } = {}) {
      if (text !== undefined) agent.addMessage({ id: randomUUID(), role: 'user', content: text });
      events = [];
      cutAt = cut;
      await agent.runAgent(parameters);
      const end = events.at(-1);
      const outcome = end?.type === 'RUN_FINISHED' ? end.outcome?.type : end?.type;
      return { events, types: events.map(({ type }) => type), interrupts: agent.pendingInterrupts, outcome };
    },
    resolve: (payload) =>
      client.run(undefined, {
        resume: agent.pendingInterrupts.map(({ id }) => ({
          interruptId: id,
          status: 'resolved',
          ...(payload !== undefined && { payload }),
        })),
      }),
    runTools(results) {
      const done = new Set(agent.messages.map((message) => message.role === 'tool' && message.toolCallId));
      const calls = agent.messages.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []) : [],
      );
      for (const { id: toolCallId, function: called } of calls) {
        const content = results[called.name];
        if (content === undefined || done.has(toolCallId)) continue;
        agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId, content });
      }
    },
    texts: () =>
      agent.messages.flatMap((message) =>
        message.role === 'assistant' && message.content ? [message.content] : [],
      ),
  };
  return client;
}

export const cancelled = (interrupts: Interrupt[]): ResumeEntry[] =>
  interrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' }));

/** A lost connection makes these clients cancel its stream and throw the error again where nothing catches it: docs/ag-ui.md. */
function quietlyCancelled(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const getReader = stream.getReader.bind(stream);
  const quiet = () => {
    const reader = getReader();
    const cancel = reader.cancel.bind(reader);
    reader.cancel = (reason) => cancel(reason).catch(() => undefined);
    return reader;
  };
  return Object.assign(stream, { getReader: quiet });
}

/** Without a client: sends what stock clients refuse to send. */
export async function post(
  service: Pick<Service, 'baseUrl' | 'token'>,
  body: object,
  { user = 'alice', agent }: Pick<ClientOptions, 'user' | 'agent'> = {},
) {
  const response = await fetch(runUrl(service, agent), {
    method: 'POST',
    headers: { authorization: `Bearer ${await service.token(user)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ runId: randomUUID(), protocolVersion: '1.0', messages: [], ...body }),
  });
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, problem: JSON.parse(text), events: [] };
  const events = text.split('\n\n').flatMap((block) => eventIn(block) ?? []);
  expect(events[0]?.type).toBe('RUN_STARTED');
  return { status: 200, problem: undefined, events };
}

/** Null for a comment. */
function eventIn(block: string): Event | null {
  if (!block.startsWith('data: ')) return null;
  return EventSchema.parse(JSON.parse(block.slice('data: '.length))) as Event;
}
