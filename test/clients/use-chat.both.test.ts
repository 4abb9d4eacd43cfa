/** The AI SDK's own chats of some major versions against the whole service. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import { createFreshServices } from '../service/fresh-services.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { brittleFetch } from './brittle-fetch.ts';
import { createChatClient, versions, question } from './chat-client.ts';
import type { ChatClient, ChatClientOptions, Version } from './chat-client.ts';

/** The newest AI SDK daily; all of them in the full suite, beside each other. */
const tried = inject('suite') === 'daily' ? versions.slice(0, 1) : versions;

let environment: TestWorkflowEnvironment;
let service: Service;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
const services = createFreshServices(() => {
  const temporal = temporalOf(environment);
  return startService({ temporal });
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(async () => {
  service = await services.take();
});
afterEach(() => services.giveBack(service));

async function open(version: Version, options: Partial<ChatClientOptions> = {}): Promise<ChatClient> {
  const { conversation = randomUUID() } = options;
  service.begun(conversation);
  return createChatClient(version, {
    baseUrl: service.baseUrl,
    token: await service.token('alice'),
    ...options,
    conversation,
  });
}

const wholeAnswer = (elicitationId: string) => [
  { type: 'step-start' },
  {
    type: 'dynamic-tool',
    toolName: 'connect_tracker',
    toolCallId: 'call_1',
    state: 'output-available',
    input: {},
    output: {
      content: [{ type: 'text', text: expect.stringContaining('Tracker is connected') as string }],
    },
  },
  {
    type: 'data-elicitation-request',
    id: elicitationId,
    data: expect.objectContaining({ elicitationId, status: 'accept', mode: 'url' }) as unknown,
  },
  { type: 'step-start' },
  {
    type: 'dynamic-tool',
    toolName: 'tracker__list_issues',
    toolCallId: 'call_2',
    state: 'output-available',
    input: { state: 'open' },
    output: expect.objectContaining({ structuredContent: expect.anything() as unknown }) as unknown,
  },
  { type: 'step-start' },
  { type: 'text', text: expect.stringMatching(/^Here they are: #1 /) as string, state: 'done' },
];

describe.each(tried)('useChat of AI SDK %i', (version) => {
  test('shows the question, its resolution in the same place, the tools and the answer', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId, url } = await question(chat, 'pending');
    expect(chat.status).toBe('streaming');
    expect(chat.parts().at(-2)).toMatchObject({ toolName: 'connect_tracker', state: 'input-available' });

    await connectAccount('alice', url);
    await sending;
    expect(chat.error).toBeUndefined();
    expect(chat.status).toBe('ready');
    expect(chat.parts()).toEqual(wholeAnswer(elicitationId));

    await chat.send('list my closed issues');
    expect(chat.status).toBe('ready');
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(chat.parts().map(({ type }) => type)).toEqual([
      'step-start',
      'dynamic-tool',
      'step-start',
      'text',
    ]);
    expect(new Set(chat.messages.map(({ id }) => id)).size).toBe(4);
  });

  test('a page loaded again while the question waits shows it again, and the rest of the answer', async () => {
    const conversation = randomUUID();
    const before = await open(version, { conversation });
    const sending = before.send('list my open issues');
    await question(before, 'pending');
    await before.stop();
    await sending;

    const after = await open(version, { conversation, messages: before.messages.slice(0, 1) });
    const resuming = after.resume();
    const { elicitationId, url } = await question(after, 'pending');
    await connectAccount('alice', url);
    await resuming;
    expect(after.status).toBe('ready');
    expect(after.messages).toHaveLength(2);
    expect(after.parts()).toEqual(wholeAnswer(elicitationId));
  });

  test.each([
    ['declined', 'decline', 'chose not to'],
    ['dismissed', 'cancel', 'dismissed the question'],
  ])('a question %s on the card says so there, and the tool says why', async (_, action, words) => {
    const conversation = randomUUID();
    const chat = await open(version, { conversation });
    const sending = chat.send('list my open issues');
    const { elicitationId } = await question(chat, 'pending');
    const alice = await service.as('alice');
    await alice.answer({ conversationId: conversation, elicitationId, action });
    await sending;
    expect(chat.status).toBe('ready');
    await question(chat, action);
    expect(chat.parts()).toContainEqual(
      expect.objectContaining({
        state: 'output-error',
        errorText: expect.stringContaining(words) as string,
      }),
    );
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', state: 'done' });
  });

  test('a question that nobody answers expires on the card', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    await question(chat, 'pending');
    await environment.sleep('11 minutes');
    await sending;
    expect(chat.status).toBe('ready');
    await question(chat, 'expired');
    expect(chat.parts()).toContainEqual(
      expect.objectContaining({ errorText: expect.stringContaining('nobody answered') as string }),
    );
  });

  test('a turn that fails ends in words for the user, and the next one works', async () => {
    const chat = await open(version);
    const connecting = chat.send('list my open issues');
    await connectAccount('alice', (await question(chat, 'pending')).url);
    await connecting;
    await chat.send('go round in circles');
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toBe('The agent stopped after 6 steps without finishing. Ask it to go on.');
    expect(chat.parts().filter(({ type }) => type === 'dynamic-tool')).toHaveLength(6);
    await chat.send('hello');
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', text: 'You said: hello' });
  });

  test('a message while another is being worked on is refused in words', async () => {
    const conversation = randomUUID();
    const first = await open(version, { conversation });
    const sending = first.send('list my open issues');
    const { url } = await question(first, 'pending');
    const held = service.tracker.faults.hold('before');
    await connectAccount('alice', url);
    await held.arrived;
    const second = await open(version, { conversation });
    await second.send('hello?');
    expect(second.status).toBe('error');
    expect(second.error?.message).toContain('turn_in_progress');
    held.release();
    await sending;
    expect([first.status, first.error]).toEqual(['ready', undefined]);
  });
});

/** Version 5 appends any replay to what it has: there, a page that lost its stream makes a new chat. */
describe.each(tried.filter((version) => version > 5))(
  'useChat of AI SDK %i, without loading the page again',
  (version) => {
    test('a connection lost while the question waits is taken up again, and nothing is there twice', async () => {
      const line = brittleFetch();
      const chat = await open(version, { fetch: line.fetch });
      const sending = chat.send('list my open issues');
      const { elicitationId, url } = await question(chat, 'pending');
      line.lose();
      await sending;
      expect(chat.status).toBe('error');

      const resuming = chat.resume();
      await connectAccount('alice', url);
      await resuming;
      expect(chat.status).toBe('ready');
      expect(chat.messages).toHaveLength(2);
      expect(chat.parts()).toEqual(wholeAnswer(elicitationId));
    });
  },
);

test.runIf(tried.length > 1)('all versions end up with the same message', async () => {
  const conversation = randomUUID();
  const [sender, ...readers] = await Promise.all(versions.map((version) => open(version, { conversation })));
  if (!sender) throw new Error('there is at least one version');
  const sending = sender.send('list my open issues');
  const { url } = await question(sender, 'pending');
  const reading = readers.map((reader) => reader.resume());
  await Promise.all(readers.map((reader) => question(reader, 'pending')));
  await connectAccount('alice', url);
  await Promise.all([sending, ...reading]);
  for (const reader of readers) {
    expect(reader.messages.at(-1)?.id).toBe(sender.messages.at(-1)?.id);
    expect(reader.parts()).toEqual(sender.parts());
  }
  expect(sender.parts()).toHaveLength(7);
});
