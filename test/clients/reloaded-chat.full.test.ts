/** A page that is loaded again: the conversation from its route, the live turn from its stream, in the AI SDK's chats. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { UIMessage } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { connectAccount } from '../service/connect-account.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { createChatClient, versions } from './chat-client.ts';
import type { ChatClient, Version } from './chat-client.ts';

interface Stored {
  turn: { turnId: string; status: string } | null;
  messages: { items: UIMessage[]; next: string | null };
}
interface Question {
  elicitationId: string;
  status: string;
  url: string;
}

let environment: TestWorkflowEnvironment;
let service: Service;

async function start(around: (storage: Storage) => Storage = (storage) => storage): Promise<void> {
  const temporal = temporalOf(environment);
  service = await startService({ temporal, around });
}

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
beforeEach(() => start());
afterEach(() => service.stop());

async function open(
  version: Version,
  conversation: string,
  messages: UIMessage[] = [],
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<ChatClient> {
  service.begun(conversation);
  const token = await service.token('alice');
  return createChatClient(version, { baseUrl: service.baseUrl, token, conversation, messages, fetch });
}

/** As `useChat({ id, messages, resume: true })` on a page that begins with the conversation's route. */
async function reload(
  version: Version,
  conversation: string,
  fetch?: typeof globalThis.fetch,
): Promise<{ stored: Stored; chat: ChatClient }> {
  const alice = await service.as('alice');
  const headers = { 'x-supports-elicitation': 'true' };
  const { body } = await alice.request('GET', `/run/v1/conversations/${conversation}`, undefined, headers);
  const stored = body as unknown as Stored;
  return { stored, chat: await open(version, conversation, stored.messages.items, fetch) };
}

/** `answered` resolves with the first response. */
function watchFetch(): { fetch: typeof globalThis.fetch; answered: Promise<void> } {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  return {
    answered,
    fetch: async (...request) => {
      const response = await fetch(...request);
      resolve();
      return response;
    },
  };
}

const questionIn = (part: UIMessage['parts'][number]) =>
  part.type === 'data-elicitation-request' ? (part.data as Question) : null;

async function question(chat: ChatClient, status: string): Promise<Question> {
  await chat.until((part) => questionIn(part)?.status === status);
  const [found, ...others] = chat.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => questionIn(part) ?? []),
  );
  expect(others).toEqual([]);
  if (!found) throw new Error('the question was there a moment ago');
  return found;
}

describe.each(versions)('useChat of AI SDK %i, loaded again', (version) => {
  test('after some turns shows exactly what it had shown, and goes on', async () => {
    const conversation = randomUUID();
    const before = await open(version, conversation);
    const asking = before.send('list my open issues');
    await connectAccount('alice', (await question(before, 'pending')).url);
    await asking;
    await before.send('list my closed issues');
    await before.send('go round in circles');
    expect(before.status).toBe('error');
    expect(before.messages).toHaveLength(6);

    const { stored, chat } = await reload(version, conversation);
    expect(stored).toMatchObject({ turn: null, messages: { next: null } });
    await chat.resume();
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(chat.messages).toEqual(before.messages);

    await chat.send('hello');
    expect(chat.messages).toHaveLength(8);
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', text: 'You said: hello' });
  });

  test('in the middle of a question shows everything once, the question still open', async () => {
    const conversation = randomUUID();
    const before = await open(version, conversation);
    await before.send('hello');
    const asking = before.send('list my open issues');
    await question(before, 'pending');

    const { stored, chat } = await reload(version, conversation);
    expect(stored.turn).toMatchObject({ status: 'running' });
    expect(stored.messages.items.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const resuming = chat.resume();
    const { elicitationId, url } = await question(chat, 'pending');
    await connectAccount('alice', url);
    await Promise.all([asking, resuming]);
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect((await question(chat, 'accept')).elicitationId).toBe(elicitationId);
    expect(chat.messages).toEqual(before.messages);
    expect(chat.messages).toHaveLength(4);

    const again = await reload(version, conversation);
    await again.chat.resume();
    expect(again.chat.messages).toEqual(before.messages);
  });
});

test('a turn that no worker has taken up yet is shown as its user posted it, and answered when one does', async () => {
  const held = Promise.withResolvers<void>();
  await service.stop();
  await start((storage) => ({
    ...storage,
    turns: {
      ...storage.turns,
      begin: async (turn) => {
        await held.promise;
        return storage.turns.begin(turn);
      },
    },
  }));
  const conversation = randomUUID();
  const accepted = watchFetch();
  const before = await open(7, conversation, [], accepted.fetch);
  const asking = before.send('hello');
  await accepted.answered;

  const followed = watchFetch();
  const { stored, chat } = await reload(7, conversation, followed.fetch);
  expect(stored.turn).toMatchObject({ status: 'running' });
  expect(chat.messages).toEqual(before.messages);
  expect(chat.messages).toHaveLength(1);
  const resuming = chat.resume();
  // A turn that has ended by then cannot be followed.
  await followed.answered;
  held.resolve();
  await Promise.all([asking, resuming]);
  expect(chat.parts().at(-1)).toMatchObject({ type: 'text', text: 'You said: hello' });
  expect(chat.messages).toEqual(before.messages);
});

test('a conversation that began with a history is shown with it', async () => {
  const alice = await service.as('alice');
  const text = (words: string) => [{ type: 'text', text: words }];
  const { body } = await alice.request('POST', '/run/api/chat', {
    stream: false,
    messages: [
      { role: 'user', parts: text('Hello') },
      { role: 'assistant', parts: text('Hello to you') },
      { id: 'mine', role: 'user', parts: text('And now?') },
    ],
  });
  const { conversationId, turnId, message } = body as {
    conversationId: string;
    turnId: string;
    message: UIMessage;
  };
  const { stored, chat } = await reload(7, conversationId);
  expect(stored.messages.items).toEqual([
    { id: `${turnId}:history:0`, role: 'user', parts: text('Hello') },
    { id: `${turnId}:history:1`, role: 'assistant', parts: text('Hello to you') },
    { id: 'mine', role: 'user', parts: text('And now?') },
    message,
  ]);
  await chat.send('hello');
  expect([chat.status, chat.error]).toEqual(['ready', undefined]);
  expect(chat.messages).toHaveLength(6);
});
