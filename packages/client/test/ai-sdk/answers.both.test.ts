/** Agents as language models of every version of the AI SDK that is in use, on the whole service. */
import { APICallError } from '@ai-sdk/provider';
import { createProviderRegistry, generateText } from 'ai';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createInterlude } from '../../src/ai-sdk/index.ts';
import type { InterludeOptions } from '../../src/ai-sdk/index.ts';
import { startTcpProxy } from '../../../../test/servers/tcp-proxy.ts';
import { ask, newest, older, endIn, errorIn, textIn, turnIn, typesIn } from './consumers.ts';
import { connect, listing, newConversation, turnsOf, useInterlude } from './service-options.ts';

/** The newest AI SDK daily, the older ones in the full suite. */
const consumers = inject('suite') === 'daily' ? newest : older;
const { service, options } = useInterlude();

const failureOf = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    (value) => expect.fail(`It did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );

describe.each(consumers)('AI SDK $version', (consumer) => {
  const { generateText: generate, modelOf } = consumer;

  test('streams the answer as it comes, and says which turn it was and what it used', async () => {
    const { result, finished } = ask(consumer, options, 'hello');
    const parts = await finished;
    expect(typesIn(parts)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(parts.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(0);
    expect(await result.text).toBe('You said: hello');
    const { inputTokens = 0, outputTokens, totalTokens } = await result.usage;
    expect([inputTokens > 0, outputTokens, totalTokens]).toEqual([true, 3, inputTokens + 3]);

    const { conversationId: conversation, turnId, ...end } = endIn(parts);
    expect(end).toEqual({ finishReason: 'stop', status: 'completed' });
    expect(await result.response).toMatchObject({
      id: turnId,
      modelId: 'assistant',
      headers: { 'x-turn-id': turnId },
    });
    expect(await service.storage.turns.get({ tenant: 'demo', conversation, turnId })).toMatchObject({
      user: 'alice',
      agent: 'assistant',
      usage: { inputTokens, outputTokens },
    });
  });

  test('a conversation goes on where it was, with the last message only', async () => {
    const interlude = { conversationId: newConversation(service) };
    await ask(consumer, options, 'hello', { interlude }).finished;
    const messages = [
      { role: 'user' as const, content: 'words that were never said' },
      { role: 'assistant' as const, content: 'nor these' },
      { role: 'user' as const, content: 'hello again' },
    ];
    const parts = await ask(consumer, options, '', { interlude, messages }).finished;
    expect(textIn(parts)).toBe('You said: hello again');
    const conversation = { tenant: 'demo', conversation: interlude.conversationId };
    const stored = await service.storage.messages.list(conversation);
    expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(JSON.stringify(stored)).not.toContain('nor these');
  });

  test('without a conversation, what was said before begins one', async () => {
    const messages = [
      { role: 'user' as const, content: 'hello' },
      { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Hello yourself' }] },
      { role: 'user' as const, content: 'and goodbye' },
    ];
    const parts = await ask(consumer, options, '', { messages }).finished;
    expect(textIn(parts)).toBe('You said: and goodbye');
    const { conversationId: conversation } = endIn(parts);
    const stored = await service.storage.messages.list({ tenant: 'demo', conversation });
    expect(stored.map(({ role, content }) => [role, JSON.stringify(content)])).toEqual([
      ['user', expect.stringContaining('hello')],
      ['assistant', expect.stringContaining('Hello yourself')],
      ['user', expect.stringContaining('and goodbye')],
      ['assistant', expect.stringContaining('You said')],
    ]);
  });

  test.each([
    ['message id in a conversation', { messageId: 'm-1' }, true],
    ['key in a conversation', { idempotencyKey: `a key of any form, ${consumer.version}` }, true],
    ['key', { idempotencyKey: `another ${consumer.version}` }, false],
  ])('the same %s is the same turn again', async (_, names, isInConversation) => {
    const interlude = { ...names, ...(isInConversation && { conversationId: newConversation(service) }) };
    const before = await turnsOf(service);
    const [one, other] = [
      ask(consumer, options, 'hello', { interlude }),
      ask(consumer, options, 'hello', { interlude }),
    ];
    expect(endIn(await one.finished)).toEqual(endIn(await other.finished));
    const { providerMetadata } = await generate({
      model: modelOf(options),
      prompt: 'hello',
      providerOptions: { interlude },
    });
    expect(turnIn(providerMetadata)).toMatchObject({ turnId: endIn(await one.finished).turnId });
    expect(await turnsOf(service)).toBe(before + 1);
  });

  test('two calls that say the same are two turns', async () => {
    const [one, other] = [ask(consumer, options, 'hello'), ask(consumer, options, 'hello')];
    const ends = [endIn(await one.finished), endIn(await other.finished)];
    expect(ends[0]?.conversationId).not.toBe(ends[1]?.conversationId);
  });

  test('what the service refuses is an error with its status, and is asked for once', async () => {
    const interlude = { conversationId: newConversation(service) };
    await ask(consumer, options, 'hello', { interlude }).finished;
    let requests = 0;
    const counted: InterludeOptions = {
      ...options,
      fetch(input, init) {
        requests += 1;
        return fetch(input, init);
      },
    };
    const refusals = [
      [modelOf(counted, 'nobody'), {}, 404, 'unknown_agent', /There is no agent "nobody"/],
      [modelOf({ ...counted, token: 'wrong' }), {}, 401, 'unauthenticated', /token/i],
      [
        modelOf({ ...counted, token: await service.token('bob') }),
        interlude,
        404,
        'conversation_not_found',
        /./,
      ],
      [modelOf(counted, 'lead'), interlude, 400, 'invalid_request', /this conversation is with assistant/],
    ] as const;
    for (const [model, named, statusCode, code, message] of refusals) {
      requests = 0;
      const error = await failureOf(
        generate({ model, prompt: 'hello', providerOptions: { interlude: named } }),
      );
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ statusCode, isRetryable: false, data: { code } });
      expect(error).toMatchObject({ message: expect.stringMatching(message) });
      expect(requests).toBe(1);
    }
  });

  test('wrong options are reported at once, and nothing is sent', async () => {
    const before = await turnsOf(service);
    const error = await failureOf(
      generate({
        model: modelOf(options),
        prompt: 'hello',
        providerOptions: { interlude: { conversationID: 'c1' } },
      }),
    );
    expect(error).toMatchObject({
      name: 'AI_InvalidArgumentError',
      message: expect.stringContaining('providerOptions.interlude.conversationID is not an option'),
    });
    expect(await turnsOf(service)).toBe(before);
  });

  test('the address of a picture is refused with a message, and not fetched', async () => {
    const gallery = await startTcpProxy({ to: () => [] });
    const picture = { type: 'image' as const, image: new URL(`${gallery.url}/cat.png`) };
    const messages = [{ role: 'user' as const, content: [picture] }];
    const error = await failureOf(generate({ model: modelOf(options), messages }));
    await gallery.stop();
    expect(error).toMatchObject({
      name: 'AI_UnsupportedFunctionalityError',
      message: expect.stringContaining('as bytes and not as addresses'),
    });
    expect(gallery.connections).toEqual([]);
  });

  test('settings that are the agent’s own are warned about, and change nothing', async () => {
    const { result, finished } = ask(consumer, options, 'hello', { temperature: 0.5 });
    expect(textIn(await finished)).toBe('You said: hello');
    expect(JSON.stringify(await result.warnings)).toContain('temperature');
  });
});

/** Their account is connected from the first of these tests on. */
describe.each(consumers)('AI SDK $version, with an account', (consumer) => {
  const { generateText: generate, modelOf } = consumer;
  beforeAll(() => generate({ model: modelOf({ ...options, onElicitation: connect }), prompt: listing }));

  test('the agent’s tools run on the service, and are not the consumer’s to run', async () => {
    const before = service.tracker.calls.length;
    const { result, finished } = ask(consumer, options, listing);
    expect(typesIn(await finished).filter((type) => type.startsWith('tool'))).toEqual([]);
    expect(await result.toolCalls).toEqual([]);
    expect(await result.text).toMatch(/^Here they are: #1 /);
    expect(service.tracker.calls.length).toBe(before + 1);
  });

  test('a turn that fails is an error and an end, and is not begun again', async () => {
    const before = await turnsOf(service);
    const parts = await ask(consumer, options, 'go round in circles').finished;
    const message = 'The agent stopped after 6 steps without finishing. Ask it to go on.';
    const { conversationId, turnId, ...end } = endIn(parts);
    expect(end).toEqual({ finishReason: 'error', status: 'failed' });
    const data = { code: 'MaxStepsReached', conversationId, turnId };
    expect(errorIn(parts)).toMatchObject({ message, isRetryable: false, data });
    expect(APICallError.isInstance(errorIn(parts))).toBe(true);
    expect(textIn(parts)).toBe('Round 0. \n\nRound 1. \n\nRound 2. \n\nRound 3. \n\nRound 4. \n\nRound 5. ');
    expect(await turnsOf(service)).toBe(before + 1);

    const error = await failureOf(generate({ model: modelOf(options), prompt: 'go round in circles' }));
    expect(error).toMatchObject({ name: 'AI_APICallError', message, isRetryable: false });
    expect(await turnsOf(service)).toBe(before + 2);
  });

  test('a conversation at work refuses another message, or makes room when the caller says so', async () => {
    const interlude = { conversationId: newConversation(service) };
    const held = service.tracker.faults.hold('before');
    const working = ask(consumer, options, listing, { interlude });
    await held.arrived;
    const error = await failureOf(
      generate({ model: modelOf(options), prompt: 'hello', providerOptions: { interlude } }),
    );
    expect(error).toMatchObject({
      name: 'AI_APICallError',
      statusCode: 409,
      isRetryable: false,
      data: { code: 'turn_in_progress', turnId: expect.any(String) },
    });
    const impatient = ask(consumer, options, 'hello', { interlude: { ...interlude, onBusy: 'cancel' } });
    expect(textIn(await impatient.finished)).toBe('You said: hello');
    held.release();
    expect(endIn(await working.finished)).toMatchObject({ finishReason: 'other', status: 'cancelled' });
  });
});

describe.runIf(consumers === newest)('a provider', () => {
  test('can be looked up in a registry', async () => {
    const registry = createProviderRegistry({ interlude: createInterlude(options) });
    const model = registry.languageModel('interlude:assistant');
    expect((await generateText({ model, prompt: 'hi' })).text).toBe('You said: hi');
  });

  test('can speak for several users: the header of a call counts', async () => {
    const model = createInterlude({ ...options, token: 'wrong' })('assistant');
    const headers = { authorization: `Bearer ${await service.token('bob')}` };
    const { providerMetadata } = await generateText({ model, prompt: 'hi', headers });
    const { conversationId: conversation } = turnIn(providerMetadata);
    expect(await service.storage.turns.conversation({ tenant: 'demo', conversation })).toMatchObject({
      user: 'bob',
    });
  });
});
