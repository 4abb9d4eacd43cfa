/** OpenAI's own client for Node against the whole service. */
import { randomUUID } from 'node:crypto';
import { NotFoundError } from 'openai';
import { describe, expect, test } from 'vitest';
import {
  collect,
  createOpenAI,
  failureOf,
  questionIn,
  readAndConnect,
  say,
  textIn,
} from './openai-client.ts';
import { useService } from '../service/use-service.ts';

const { service } = useService();

const listed = /^Here they are: #\d+ /;

describe('a caller who cannot ask', () => {
  test('gets a clean answer as chunks, without a trace of a question', async () => {
    const client = await createOpenAI(service, 'bob');
    const request = client.chat.completions.create(say('list my open issues'));
    const { data: stream, response } = await request.withResponse();
    const turnId = response.headers.get('x-turn-id');
    expect(turnId).toMatch(/./);
    expect(response.headers.get('x-conversation-id')).toMatch(/./);

    const chunks = await collect(stream);
    const [first, ...others] = chunks;
    expect(first).toEqual({
      id: `chatcmpl-${turnId}`,
      object: 'chat.completion.chunk',
      created: expect.any(Number) as number,
      model: 'assistant',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null, logprobs: null }],
    });
    expect(Math.abs(Date.now() / 1000 - first!.created)).toBeLessThan(60);
    for (const { id, created } of others)
      expect({ id, created }).toEqual({ id: first!.id, created: first!.created });
    expect(textIn(chunks)).toMatch(/Tracker/);
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop', logprobs: null }]);
    expect(JSON.stringify(chunks)).not.toMatch(/elicitation|auth\/connect/);
  });

  test('waits for the answer as one completion that counts its tokens', async () => {
    const client = await createOpenAI(service, 'bob', { supports: 'true' });
    const completion = await client.chat.completions.create({ ...say('hello'), stream: false });
    expect(completion).toEqual({
      id: expect.stringMatching(/^chatcmpl-./) as string,
      object: 'chat.completion',
      created: expect.any(Number) as number,
      model: 'assistant',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'You said: hello', refusal: null },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: expect.any(Number) as number,
        completion_tokens: 3,
        total_tokens: expect.any(Number) as number,
      },
    });
    const { usage } = completion;
    expect(usage?.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
  });

  test('is not asked when it waits for one completion, whatever it says it can present', async () => {
    const client = await createOpenAI(service, 'bob', { supports: 'true' });
    const request = { ...say('list my open issues'), stream: false } as const;
    const completion = await client.chat.completions.create(request);
    expect(completion.choices[0]?.message.content).toMatch(/Tracker/);
    expect(JSON.stringify(completion)).not.toMatch(/elicitation/);
  });

  test('is told the tokens in a last chunk when it asks for them', async () => {
    const client = await createOpenAI(service, 'bob');
    const options = { stream_options: { include_usage: true } };
    const stream = await client.chat.completions.create(say('hello', options));
    const chunks = await collect(stream);
    expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(chunks.slice(0, -1).map(() => null));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });
  });

  test('reads the same with the streaming helper', async () => {
    const client = await createOpenAI(service, 'bob');
    const runner = client.chat.completions.stream(say('hello'));
    const deltas: string[] = [];
    runner.on('content', (delta) => void deltas.push(delta));
    expect(await runner.finalContent()).toBe('You said: hello');
    expect(deltas.join('')).toBe('You said: hello');
  });
});

describe('a caller who can ask', () => {
  test('finds the question and its resolution beside deltas without text, and the answer goes on', async () => {
    const client = await createOpenAI(service, 'alice', { supports: 'url', operations: true });
    const stream = await client.chat.completions.create(say('list my open issues'));
    const chunks = await readAndConnect(stream);
    const asked = chunks.filter((chunk) => questionIn(chunk));
    expect(asked.map((chunk) => questionIn(chunk)?.status)).toEqual(['pending', 'accept']);
    // Once more where proxies pass it on that drop members they do not know.
    expect(asked.map(({ choices }) => choices)).toEqual(
      asked.map((chunk) => {
        const delta = { provider_specific_fields: { elicitation: questionIn(chunk) } };
        return [{ index: 0, delta, finish_reason: null, logprobs: null }];
      }),
    );
    expect(textIn(chunks)).toMatch(listed);
    expect(textIn(chunks)).not.toMatch(/elicitation|auth\/connect/);
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'connect_tracker', arguments: '{}' } },
      {
        index: 1,
        id: 'call_2',
        type: 'function',
        function: { name: 'tracker__list_issues', arguments: '{"state":"open"}' },
      },
    ]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('finds it with the streaming helper as well', async () => {
    const { tracker } = service;
    tracker.revoke('alice');
    const client = await createOpenAI(service, 'alice', { supports: 'true' });
    const runner = client.chat.completions.stream(say('list my closed issues'));
    const chunks = await readAndConnect(runner);
    expect(chunks.flatMap((chunk) => questionIn(chunk)?.status ?? [])).toEqual(['pending', 'accept']);
    expect(await runner.finalContent()).toMatch(/^Here they are: /);
  });

  test('is not shown a kind of question it cannot present', async () => {
    service.tracker.revoke('alice');
    const client = await createOpenAI(service, 'alice', { supports: 'form' });
    const stream = await client.chat.completions.create(say('list my open issues'));
    const chunks = await collect(stream);
    expect(chunks.flatMap((chunk) => questionIn(chunk) ?? [])).toEqual([]);
    expect(textIn(chunks)).toMatch(/Tracker/);
  });
});

describe('a conversation', () => {
  test('that is named goes on from what is stored, and only the last message is new', async () => {
    const client = await createOpenAI(service, 'bob');
    const conversationId = randomUUID();
    const { stream: _, ...first } = say('hello', { conversationId });
    await client.chat.completions.create(first);
    const second = {
      ...first,
      messages: [...first.messages, { role: 'user', content: 'and now?' } as const],
    };
    const { data, response } = await client.chat.completions.create(second).withResponse();
    expect(data.choices[0]?.message.content).toBe('You said: and now?');
    expect(response.headers.get('x-conversation-id')).toBe(conversationId);
    const kept = await service.storage.messages.list({ tenant: 'demo', conversation: conversationId });
    expect(kept.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  test('that is not named begins with the list that was posted', async () => {
    const client = await createOpenAI(service, 'bob');
    const request = client.chat.completions.create({
      model: 'assistant',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'and now?' },
      ],
    });
    const { data, response } = await request.withResponse();
    expect(data.choices[0]?.message.content).toBe('You said: and now?');
    const conversation = response.headers.get('x-conversation-id') ?? '';
    const kept = await service.storage.messages.list({ tenant: 'demo', conversation });
    expect(kept.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'user', 'assistant']);
  });
});

describe('the models', () => {
  test('can be listed and read', async () => {
    const client = await createOpenAI(service, 'bob');
    const assistant = { id: 'assistant', object: 'model', created: 0, owned_by: 'interlude' };
    expect((await client.models.list()).data).toContainEqual(assistant);
    expect(await client.models.retrieve('assistant')).toMatchObject(assistant);
    expect(await failureOf(client.models.retrieve('nobody'))).toBeInstanceOf(NotFoundError);
  });
});
