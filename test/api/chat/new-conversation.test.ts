/** A message without a conversation begins one: whole turns on a real server. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../../service/use-service.ts';
import type { Caller } from '../../service/user.ts';

const { service, alice } = useService();
let bob: Caller;

beforeAll(async () => {
  bob = await service.as('bob');
});

const say = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] });

function withContext(text: string) {
  const { role, parts } = say(text);
  return { role, parts: [...parts, { type: 'data-page-context', data: { text: 'Order 1043' } }] };
}

function post(who: Caller, messages: unknown[], more: object = {}, headers: Record<string, string> = {}) {
  return who.request('POST', '/run/api/chat', { messages, stream: false, ...more }, headers);
}

/** As the model is given it. */
async function stored(conversation: unknown): Promise<[role: string, ...texts: string[]][]> {
  const ref = { tenant: 'demo', conversation: String(conversation) };
  const messages = await service.storage.messages.list(ref);
  return messages.map(({ role, content }) => [
    role,
    ...(content as { text: string }[]).map(({ text }) => text),
  ]);
}

describe('a message without a conversation', () => {
  test('begins one each time, and says which', async () => {
    const replies = [await post(alice, [say('hello')]), await post(alice, [say('hello')])];
    const conversations = replies.map(({ body }) => body['conversationId']);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(conversations).size).toBe(2);
    for (const conversation of conversations) {
      const row = await service.storage.turns.conversation({
        tenant: 'demo',
        conversation: String(conversation),
      });
      expect(row).toMatchObject({ user: 'alice', agent: 'assistant' });
    }
  });

  test('says it in the header of its stream, and the conversation goes on under that id', async () => {
    const response = await fetch(`${service.baseUrl}/run/api/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await service.token('alice')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ messages: [say('hello')] }),
    });
    expect(await response.text()).toContain('"type":"finish"');
    const conversation = response.headers.get('x-conversation-id');
    const next = await post(alice, [say('this is ignored'), say('and this is new')], { id: conversation });
    expect(next.body).toMatchObject({ conversationId: conversation, status: 'completed' });
    expect(await stored(conversation)).toEqual([
      ['user', 'hello'],
      ['assistant', 'You said: hello'],
      ['user', 'and this is new'],
      ['assistant', 'You said: and this is new'],
    ]);
    expect((await post(bob, [say('hello')], { id: conversation })).status).toBe(404);
  });

  test('brings its history along, as far as somebody said something in it', async () => {
    const reply = await post(alice, [
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      { id: 'a1', ...say('Who are you?') },
      {
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'Hm.', state: 'done' },
          {
            type: 'dynamic-tool',
            toolName: 't',
            toolCallId: 'c',
            state: 'output-available',
            input: {},
            output: {},
          },
          { type: 'text', text: 'An assistant.', state: 'done' },
          { type: 'text', text: 'Ask me.', state: 'done' },
        ],
      },
      {
        role: 'user',
        parts: [{ type: 'data-elicitation-response', data: { elicitationId: 'e', action: 'accept' } }],
      },
      { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: 'data:,' }] },
      { role: 'assistant', parts: [] },
      say(' \n'),
      say('hello'),
    ]);
    expect(reply.body).toMatchObject({ status: 'completed' });
    expect(await stored(reply.body['conversationId'])).toEqual([
      ['user', 'Be brief.'],
      ['user', 'Who are you?'],
      ['assistant', 'An assistant.', 'Ask me.'],
      ['user', 'hello'],
      ['assistant', 'You said: hello'],
    ]);
  });
});

describe('an Idempotency-Key for a message without a conversation', () => {
  const named = () => ({ 'idempotency-key': randomUUID() });
  const idsOf = ({ body }: { body: Record<string, unknown> }) => [body['conversationId'], body['turnId']];

  test('joins what the first request began, at the same time and long after', async () => {
    const key = named();
    const [one, two] = await Promise.all([
      post(alice, [say('hello')], {}, key),
      post(alice, [say('hello')], {}, key),
    ]);
    const three = await post(alice, [say('hello')], {}, key);
    expect([one, two, three].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([idsOf(two), idsOf(three)]).toEqual([idsOf(one), idsOf(one)]);
    expect(await stored(one.body['conversationId'])).toEqual([
      ['user', 'hello'],
      ['assistant', 'You said: hello'],
    ]);
  });

  test.each([
    ['other words', [say('goodbye')], {}],
    ['another history', [say('hi'), say('hello')], {}],
    ['what a page shows', [withContext('hello')], {}],
    ['a message id', [{ id: 'm1', ...say('hello') }], {}],
    ['a conversation', [say('hello')], { id: 'some-conversation' }],
    ['an agent', [say('hello')], { agentId: 'assistant' }],
  ])('is refused for another request: with %s', async (_, messages, more) => {
    const key = named();
    const first = await post(alice, [say('hello')], {}, key);
    expect(first.status).toBe(200);
    expect(await post(alice, messages, more, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    expect(await post(alice, [say('hello')], {}, key)).toMatchObject({
      status: 200,
      body: { turnId: first.body['turnId'] },
    });
  });

  test('is its own with every caller', async () => {
    const key = named();
    const service_ = await service.asService();
    const replies = [
      await post(alice, [say('hello')], {}, key),
      await post(bob, [say('hello')], {}, key),
      await post(service_, [say('hello')], {}, key),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(replies.map(({ body }) => body['conversationId'])).size).toBe(3);
  });

  test('makes one turn in a conversation that is given, too', async () => {
    const key = named();
    const id = randomUUID();
    const one = await post(alice, [say('hello')], { id }, key);
    const two = await post(alice, [say('hello')], { id }, key);
    expect(idsOf(two)).toEqual(idsOf(one));
    expect(one.body['conversationId']).toBe(id);
  });

  test('that was refused for its request is still free', async () => {
    const key = named();
    expect((await post(alice, [say('hello')], { agentId: 7 }, key)).status).toBe(400);
    expect((await post(alice, [say('hello')], {}, key)).status).toBe(200);
  });
});
