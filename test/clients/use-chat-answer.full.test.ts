/** Questions answered with `sendMessage`, by the AI SDK's own chats of every major version in use. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { UIMessage } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { brittleFetch } from './brittle-fetch.ts';
import { createChatClient, versions, question } from './chat-client.ts';
import type { ChatClient, ChatClientOptions, Version } from './chat-client.ts';

let environment: TestWorkflowEnvironment;
let service: Service;
let conversation: string;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
beforeEach(async () => {
  const temporal = temporalOf(environment);
  service = await startService({ temporal });
  conversation = randomUUID();
  service.begun(conversation);
});
afterEach(() => service.stop());

async function open(version: Version, options: Partial<ChatClientOptions> = {}): Promise<ChatClient> {
  const token = await service.token('alice');
  return createChatClient(version, { baseUrl: service.baseUrl, token, conversation, ...options });
}

const rolesOf = ({ messages }: { messages: UIMessage[] }) => messages.map(({ role }) => role);

/** What the turns of the conversation are made of, as the model is given it. */
async function userTexts(): Promise<string[]> {
  const messages = await service.storage.messages.list({ tenant: 'demo', conversation });
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => (content as { text: string }[]).map(({ text }) => text));
}

const declined = expect.objectContaining({
  state: 'output-error',
  errorText: expect.stringContaining('chose not to') as string,
}) as unknown;

describe.each(versions)('with sendMessage of AI SDK %i, an answer', (version) => {
  test('while the stream is open counts, and the stream goes on to its end', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId } = await question(chat, 'pending');
    await chat.answer({ elicitationId, action: 'decline' });
    expect(chat.error).toBeUndefined();
    await sending;
    await question(chat, 'decline');
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(rolesOf(chat)).toEqual(['user', 'assistant', 'user']);
    expect(chat.parts()).toContainEqual(declined);
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', state: 'done' });
  });

  test('is no turn and no history, and the next message is one as ever', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId } = await question(chat, 'pending');
    await chat.answer({ elicitationId, action: 'decline' });
    await sending;
    await chat.send('hello');
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', text: 'You said: hello' });
    expect(await userTexts()).toEqual(['list my open issues', 'hello']);
  });

  test('that only agrees leaves the question open until the account is connected', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId, url } = await question(chat, 'pending');
    await chat.answer({ elicitationId, action: 'accept' });
    expect(chat.error).toBeUndefined();
    await question(chat, 'pending');
    await connectAccount('alice', url);
    await sending;
    await question(chat, 'accept');
    expect(chat.parts().at(-1)).toMatchObject({ text: expect.stringContaining('Here they are') as string });
    await chat.answer({ elicitationId, action: 'accept' });
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
  });

  test('from another tab, which reads no stream, counts for the one that does', async () => {
    const reading = await open(version);
    const sending = reading.send('list my open issues');
    const { elicitationId } = await question(reading, 'pending');
    const other = await open(version, { messages: reading.messages.slice(0, 1) });
    await other.answer({ elicitationId, action: 'decline' });
    expect([other.status, other.error]).toEqual(['ready', undefined]);
    await sending;
    await question(reading, 'decline');
    expect(reading.status).toBe('ready');
  });

  test('after the stream was lost counts, and a new page sees the rest of the turn', async () => {
    const line = brittleFetch();
    const lost = await open(version, { fetch: line.fetch });
    const sending = lost.send('list my open issues');
    const { elicitationId } = await question(lost, 'pending');
    line.lose();
    await sending;
    expect(lost.status).toBe('error');
    await lost.answer({ elicitationId, action: 'accept' });
    expect([lost.status, lost.error]).toEqual(['ready', undefined]);

    const after = await open(version, { messages: lost.messages.slice(0, 1) });
    const resuming = after.resume();
    await connectAccount('alice', (await question(after, 'pending')).url);
    await resuming;
    await question(after, 'accept');
    expect(rolesOf(after)).toEqual(['user', 'assistant']);
    expect(after.parts().at(-1)).toMatchObject({ text: expect.stringContaining('Here they are') as string });
  });

  test('to a question that is settled gets the same receipt again, or is told so', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId } = await question(chat, 'pending');
    await chat.answer({ elicitationId, action: 'decline' });
    await sending;
    await chat.answer({ elicitationId, action: 'decline' });
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    await chat.answer({ elicitationId, action: 'accept' });
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toContain('already_answered');
    expect(chat.error?.message).toContain('"outcome":"decline"');
  });

  test('that comes too late is told so while the stream goes on', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId } = await question(chat, 'pending');
    await environment.sleep('11 minutes');
    await question(chat, 'expired');
    await chat.answer({ elicitationId, action: 'decline' });
    expect(chat.error?.message).toContain('"code":"expired"');
    await sending;
    expect(chat.parts().at(-1)).toMatchObject({ type: 'text', state: 'done' });
  });

  test('that is refused disturbs nothing of the stream that is open', async () => {
    const chat = await open(version);
    const sending = chat.send('list my open issues');
    const { elicitationId, url } = await question(chat, 'pending');
    await chat.answer({ elicitationId: 'never-asked', action: 'decline' });
    expect(chat.error?.message).toContain('elicitation_not_found');
    await connectAccount('alice', url);
    await sending;
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect((await question(chat, 'accept')).elicitationId).toBe(elicitationId);
    expect(chat.parts().at(-1)).toMatchObject({ text: expect.stringContaining('Here they are') as string });
  });
});

/** Version 5 appends any replay to what it has: there, a page that lost its stream makes a new chat. */
describe.each(versions.filter((version) => version > 5))(
  'with sendMessage of AI SDK %i, without loading the page again,',
  (version) => {
    test('a lost stream is answered to and then taken up, and nothing is there twice', async () => {
      const line = brittleFetch();
      const chat = await open(version, { fetch: line.fetch });
      const sending = chat.send('list my open issues');
      const { elicitationId, url } = await question(chat, 'pending');
      line.lose();
      await sending;
      await chat.answer({ elicitationId, action: 'accept' });
      const resuming = chat.resume();
      await connectAccount('alice', url);
      await resuming;
      expect([chat.status, chat.error]).toEqual(['ready', undefined]);
      expect(rolesOf(chat)).toEqual(['user', 'assistant', 'user']);
      await question(chat, 'accept');
      expect(chat.parts().at(-1)).toMatchObject({ text: expect.stringContaining('Here they are') as string });
    });
  },
);
