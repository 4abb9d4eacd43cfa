/** What different readers of a turn are shown: those who can be asked, those who cannot, those who watch it work. */
import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OperationSchema, ToolAuthRequiredSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type { Operation } from '@interlude-ai/core/contract/stream-event.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { connectAccount } from '../service/connect-account.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { createChatClient, versions, question } from './chat-client.ts';
import type { ChatClient, ChatClientOptions, Version } from './chat-client.ts';

const temporal = useDevelopmentServer();
let service: Service;
let conversation: string;

async function start(around?: (storage: Storage) => Storage): Promise<void> {
  service = await startService({ temporal, ...(around && { around }) });
  conversation = randomUUID();
  service.begun(conversation);
}
beforeEach(() => start());
afterEach(() => service.stop());

async function open(version: Version, options: Partial<ChatClientOptions> = {}): Promise<ChatClient> {
  const token = await service.token('alice');
  return createChatClient(version, { baseUrl: service.baseUrl, token, conversation, ...options });
}

type Part = UIMessage['parts'][number];
type DataPart = Extract<Part, { type: `data-${string}` }>;
const dataParts = (parts: Part[], type: DataPart['type']) =>
  parts.filter((part): part is DataPart => part.type === type);

const notices = (parts: Part[]) => dataParts(parts, 'data-tool-auth-required');
const operations = (parts: Part[]) => dataParts(parts, 'data-operation');

/** The tools are known, the account is not connected: what a second user of a tenant meets. */
async function withKnownTools(): Promise<void> {
  const bob = await service.as('bob');
  const stream = await bob.chat('list my open issues');
  await connectAccount('bob', (await stream.question('pending')).url);
  await stream.finished();
}

describe.each(versions)('a caller on AI SDK %i that cannot be asked', (version) => {
  test('is told at the tool call whose account is missing, and the turn comes to its end', async () => {
    await withKnownTools();
    const chat = await open(version, { headers: {} });
    await chat.send('list my open issues');
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    const [notice, ...others] = notices(chat.parts());
    expect(others).toEqual([]);
    expect(notice).toEqual({
      type: 'data-tool-auth-required',
      id: 'call_1',
      data: {
        server: 'tracker',
        serverTitle: 'Tracker',
        toolName: 'tracker__list_issues',
        message: expect.stringMatching(/^Tracker needs your account to list issues\. .*ask again/) as string,
        url: expect.stringMatching(/\/connections$/) as string,
      },
    });
    expect(ToolAuthRequiredSchema.safeParse(notice?.data).success).toBe(true);
    expect(chat.parts()).toContainEqual(
      expect.objectContaining({ toolCallId: 'call_1', state: 'output-error' }),
    );
    expect(dataParts(chat.parts(), 'data-elicitation-request')).toEqual([]);
  });
});

test('a caller that waits for one JSON answer is told the same', async () => {
  const alice = await service.as('alice');
  const body = {
    id: conversation,
    stream: false,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'list my open issues' }] }],
  };
  const headers = { 'x-supports-elicitation': 'true' };
  const reply = await alice.request('POST', '/run/api/chat', body, headers);
  const { parts } = reply.body['message'] as UIMessage;
  expect(notices(parts)).toMatchObject([
    {
      id: 'call_1',
      data: {
        toolName: 'connect_tracker',
        message: expect.stringMatching(
          /^Tracker needs your account before its tools can be used\./,
        ) as string,
      },
    },
  ]);
});

test('a caller is told once, also when the worker is not sure that it has said so', async () => {
  await service.stop();
  let losesAnswers = true;
  await start((storage) => ({
    ...storage,
    toolCalls: {
      ...storage.toolCalls,
      async finish(...given) {
        const isNew = await storage.toolCalls.finish(...given);
        if (!losesAnswers) return isNew;
        losesAnswers = false;
        throw new Error('the line to the database broke');
      },
    },
  }));
  const chat = await open(7, { headers: {} });
  await chat.send('list my open issues');
  expect(losesAnswers).toBe(false);
  expect(notices(chat.parts())).toHaveLength(1);
  const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  const types = log.map(({ event }) => event.type);
  const notice = types.indexOf('tool-auth-required');
  expect(types[notice + 1]).toBe('tool-output-error');
  expect(types.lastIndexOf('tool-auth-required')).toBe(notice);
});

test('a reader that cannot be asked is told what another one is asked, and sees the turn go on', async () => {
  const asked = await open(7);
  const sending = asked.send('list my open issues');
  const { url } = await question(asked, 'pending');
  const watching = await open(7, { headers: {}, messages: asked.messages.slice(0, 1) });
  const reading = watching.resume();
  await watching.until(({ type }) => type === 'data-tool-auth-required');
  expect(notices(watching.parts())).toMatchObject([
    {
      id: 'call_1',
      data: { message: expect.stringContaining('open this conversation in one that can') as string },
    },
  ]);
  expect(JSON.stringify(watching.messages)).not.toContain('/auth/connect');

  await connectAccount('alice', url);
  await Promise.all([sending, reading]);
  expect(notices(asked.parts())).toEqual([]);
  expect(watching.parts().at(-1)).toEqual(asked.parts().at(-1));
  expect(notices(watching.parts())).toHaveLength(1);
});

describe.each(versions)('operations on AI SDK %i', (version) => {
  test('say what the turn is doing, the same to everybody who asks, each once', async () => {
    const headers = { 'x-supports-elicitation': 'true', 'x-emit-operations': 'true' };
    const sender = await open(version, { headers });
    const sending = sender.send('list my open issues');
    const { url } = await question(sender, 'pending');
    const reader = await open(version, { headers, messages: sender.messages.slice(0, 1) });
    const reading = reader.resume();
    await question(reader, 'pending');
    const plain = await open(version, { messages: sender.messages.slice(0, 1) });
    const looking = plain.resume();
    await question(plain, 'pending');
    await connectAccount('alice', url);
    await Promise.all([sending, reading, looking]);

    const seen = operations(sender.parts());
    const told = seen.map(({ data }) => OperationSchema.parse(data));
    expect(told.map(({ type }: Operation) => type)).toEqual([
      'model_step',
      'tool_call',
      'elicitation',
      expect.stringMatching(/^(elicitation|tool_result)$/),
      expect.stringMatching(/^(elicitation|tool_result)$/),
      'model_step',
      'tool_call',
      'tool_result',
      'model_step',
    ]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(9);
    expect(told.every(({ details }) => details.agent === 'assistant')).toBe(true);
    expect(reader.parts()).toEqual(sender.parts());
    expect(plain.parts()).toEqual(sender.parts().filter(({ type }) => type !== 'data-operation'));
  });
});

describe.each(versions)('with AI SDK %i, while the turn only waits for the person,', (version) => {
  test('a new message takes its place', async () => {
    const first = await open(version);
    const sending = first.send('list my open issues');
    await question(first, 'pending');
    const second = await open(version);
    await second.send('hello?');
    expect([second.status, second.error]).toEqual(['ready', undefined]);
    expect(second.parts().at(-1)).toMatchObject({ text: 'You said: hello?' });
    await sending;
    expect([first.status, first.error]).toEqual(['ready', undefined]);
    await question(first, 'cancel');
  });
});

describe.each(versions)('a reader on AI SDK %i', (version) => {
  test('stop only looks away; cancel ends the turn, and the conversation goes on', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId } = await question(chat, 'pending');
    await chat.stop();
    await sending;
    expect(chat.status).toBe('ready');
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });

    const other = await open(version, { messages: chat.messages.slice(0, 1) });
    const watching = other.resume();
    await question(other, 'pending');
    const alice = await service.as('alice');
    expect(await alice.cancel(conversation)).toMatchObject({ status: 200 });
    await question(other, 'cancel');
    await watching;
    expect([other.status, other.error]).toEqual(['ready', undefined]);

    await chat.resume();
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    await chat.send('hello');
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', text: 'You said: hello' });
  });
});
