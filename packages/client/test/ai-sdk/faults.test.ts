/** Lines that break, services that are away, calls that the SDK makes again: one turn, and its whole answer. */
import { setImmediate } from 'node:timers/promises';
import * as ai7 from 'ai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createInterlude } from '../../src/ai-sdk/index.ts';
import type { InterludeOptions } from '../../src/ai-sdk/index.ts';
import {
  beginStream,
  sendProblem,
  sendStream,
  startStreamServer,
  toEvents,
  wholeTurn,
} from '../stream-server.ts';
import type { Reply, StreamServer } from '../stream-server.ts';
import { freePort } from '../../../../test/free-port.ts';
import { startTcpProxy } from '../../../../test/servers/tcp-proxy.ts';
import type { TcpProxy, TcpProxyOptions } from '../../../../test/servers/tcp-proxy.ts';
import { ask, consumers, endIn, errorIn, read, textIn } from './consumers.ts';
import { turnsOf, useInterlude } from './service-options.ts';

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

describe('on the whole service', () => {
  const { service, options } = useInterlude();

  async function through(plan: NonNullable<TcpProxyOptions['plan']>): Promise<[InterludeOptions, TcpProxy]> {
    const proxy = await startTcpProxy({ to: Number(new URL(service.baseUrl).port), plan });
    stack.defer(() => proxy.stop());
    return [{ ...options, baseURL: proxy.url, timing: { firstRetryMs: 1, lastRetryMs: 5 } }, proxy];
  }

  const words = Array.from({ length: 80 }, (_, index) => `wörd${index} 👀`).join(' ');
  const answer = `You said: ${words}`;

  describe.each(consumers)('AI SDK $version', (consumer) => {
    test('an answer that is cut off again and again is streamed whole, once, from one turn', async () => {
      const before = await turnsOf(service);
      const [cut, proxy] = await through((index) =>
        index < 9 ? [{ kind: index % 2 === 0 ? 'cut' : 'half-close', at: { bytes: 600 + 120 * index } }] : [],
      );
      const { result, finished } = ask(consumer, cut, words);
      expect(textIn(await finished)).toBe(answer);
      expect(await result.text).toBe(answer);
      expect(endIn(await finished).status).toBe('completed');
      expect(proxy.connections.length).toBeGreaterThan(9);
      expect(await turnsOf(service)).toBe(before + 1);
    });

    test('a message whose receipt is lost is not sent twice', async () => {
      const before = await turnsOf(service);
      const [lossy, proxy] = await through((index) => (index < 2 ? [{ kind: 'cut', at: { bytes: 1 } }] : []));
      const model = consumer.modelOf(lossy);
      expect((await consumer.generateText({ model, prompt: 'hello' })).text).toBe('You said: hello');
      expect(proxy.connections.length).toBeGreaterThan(2);
      expect(await turnsOf(service)).toBe(before + 1);
    });
  });

  const report = async () => void (await fetch(`${service.baseUrl}/healthz`));
  test.each([
    ['by itself', { streamRetries: 2, onError: () => undefined }],
    ['because it is told to', { streamRetries: 0, onError: () => ({ retry: true }) as const }],
    ['after it has reported the error', { streamRetries: 1, onError: report }],
  ])('a failed turn that version 7 asks for again, %s, is the same failed turn', async (_, retries) => {
    const before = await turnsOf(service);
    let calls = 0;
    const counted: InterludeOptions = {
      ...options,
      fetch(input, init) {
        if (init?.method === 'POST') calls += 1;
        return fetch(input, init);
      },
    };
    const model = createInterlude(counted)('assistant');
    const { fullStream } = ai7.streamText({ model, prompt: 'go round in circles', ...retries });
    const parts = await read(fullStream).finished;
    expect(calls).toBeGreaterThan(1);
    expect(errorIn(parts)).toMatchObject({ data: { code: 'MaxStepsReached' } });
    expect(endIn(parts)).toMatchObject({ finishReason: 'error', status: 'failed' });
    expect(await turnsOf(service)).toBe(before + 1);
  });
});

describe('against a service that misbehaves', () => {
  async function serve(reply: Reply): Promise<StreamServer> {
    const server = await startStreamServer((response, nth, path, body) => {
      // This one keeps no feed.
      if (path.includes('/events')) return sendProblem(response, 404, { code: 'not_found' });
      response.setHeader('x-conversation-id', 'c1');
      return reply(response, nth, path, body);
    });
    stack.defer(() => server.stop());
    return server;
  }
  const timing = { firstRetryMs: 1, lastRetryMs: 4, giveUpMs: 10_000 };
  const modelAt = (baseURL: string, more: Partial<InterludeOptions> = {}) =>
    createInterlude({ baseURL, token: 'secret', timing, ...more })('assistant');
  const failureOf = (promise: PromiseLike<unknown>) =>
    Promise.resolve(promise).then(
      (value) => expect.fail(`It did not fail: ${JSON.stringify(value)}`),
      (error: unknown) => error,
    );
  const said = 'Let me look – gleich, 見て 👀.\n\nThree issues:\n- one\n- two\n- three';

  test('an answer is not held back because nobody knows what it used', async () => {
    const server = await serve((response) => sendStream(response, wholeTurn));
    const answer = await ai7.generateText({ model: modelAt(server.url), prompt: 'hi' });
    expect(answer).toMatchObject({ text: said, finishReason: 'stop' });
    expect(answer.usage).toMatchObject({ inputTokens: undefined, outputTokens: undefined });
    expect(answer.providerMetadata).toEqual({
      interlude: { conversationId: 'c1', turnId: 'turn-1', status: 'completed' },
    });
  });

  test('a service that is busy or restarting is asked again under the same name', async () => {
    const server = await serve((response, nth) => {
      if (nth === 0) return sendProblem(response, 503, { code: 'unavailable', detail: 'Temporal is away.' });
      if (nth === 1) return sendProblem(response, 429, { code: 'rate_limited' }, { 'retry-after': '0.01' });
      sendStream(response, wholeTurn);
    });
    const { text } = await ai7.generateText({ model: modelAt(server.url), prompt: 'hi' });
    expect(text).toBe(said);
    const posts = server.requests.filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(3);
    expect(
      new Set(posts.map(({ headers, body }) => JSON.stringify([headers['idempotency-key'], body]))).size,
    ).toBe(1);
  });

  test('a service that takes no message for too long is an error that says so, and is not asked again', async () => {
    const server = await serve((response) => sendProblem(response, 503, { code: 'unavailable' }));
    const model = modelAt(server.url, { timing: { ...timing, giveUpMs: 150 } });
    const error = await failureOf(ai7.generateText({ model, prompt: 'hi' }));
    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: 503, isRetryable: false });
    expect(String(error)).toContain('did not say within 0.15 s that it took the message: it answers 503');
  });

  test('a service that is not there is an error that says so', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const model = modelAt(nobody, { timing: { ...timing, giveUpMs: 150 } });
    const error = await failureOf(ai7.generateText({ model, prompt: 'hi' }));
    expect(error).toMatchObject({ name: 'AI_APICallError', url: `${nobody}/run/api/chat` });
    expect(error).toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('cannot be reached'),
    });
  });

  test('a turn that has been taken is waited for, however long it says nothing', async () => {
    const server = await serve((response) => {
      beginStream(response);
      response.flushHeaders();
      setTimeout(() => response.end(toEvents(wholeTurn)), 2_500);
    });
    const model = modelAt(server.url, { timing: { ...timing, giveUpMs: 2_000 } });
    expect((await ai7.generateText({ model, prompt: 'hi' })).text).toBe(said);
  });

  test('whatever is not Interlude is said to be something else', async () => {
    const server = await serve((response) => void response.writeHead(200).end('<html>'));
    const error = await failureOf(ai7.generateText({ model: modelAt(server.url), prompt: 'hi' }));
    expect(error).toMatchObject({ isRetryable: false, data: { code: 'unexpected_response' } });
  });

  test('a token that is refused in the middle ends the answer with an error; what was said stays', async () => {
    const server = await serve((response, nth) => {
      if (nth > 0) return sendProblem(response, 401, { code: 'unauthenticated', detail: 'It has expired.' });
      beginStream(response);
      response.end(toEvents(wholeTurn.slice(0, 5)));
    });
    const { fullStream } = ai7.streamText({
      model: modelAt(server.url),
      prompt: 'hi',
      onError: () => undefined,
    });
    const parts = await read(fullStream).finished;
    expect(textIn(parts)).toBe('Let me look – gleich, 見て 👀.');
    expect(parts.map(({ type }) => type)).toContain('text-end');
    expect(errorIn(parts)).toMatchObject({ statusCode: 401, message: 'It has expired.' });
    expect(endIn(parts)).toMatchObject({ finishReason: 'error', status: 'lost' });
  });

  test('who has aborted before sends nothing', async () => {
    const server = await serve((response) => sendStream(response, wholeTurn));
    const abortSignal = AbortSignal.abort();
    const model = modelAt(server.url);
    await expect(ai7.generateText({ model, prompt: 'hi', abortSignal })).rejects.toThrow('aborted');
    expect(server.requests).toEqual([]);
  });

  test('a turn that is to be stopped before anybody knows of it is stopped as soon as it is there', async () => {
    const begin = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const server = await serve(async (response, _nth, path) => {
      if (path.endsWith('/cancel')) {
        response.end(JSON.stringify({ status: 'cancelling' }));
        return cancelled.resolve();
      }
      arrived.resolve();
      await begin.promise;
      beginStream(response);
      response.flushHeaders();
    });
    const leaving = new AbortController();
    const model = modelAt(server.url, { onAbort: 'cancel' });
    const failed = failureOf(ai7.generateText({ model, prompt: 'hi', abortSignal: leaving.signal }));
    await arrived.promise;
    leaving.abort(new Error('enough'));
    expect(String(await failed)).toContain('enough');
    expect(server.requests.map(({ path }) => path)).toEqual(['/run/api/chat']);
    begin.resolve();
    await cancelled.promise;
    expect(server.requests.at(-1)?.path).toBe('/run/api/chat/c1/cancel');
  });

  test('a consumer that cancels the stream hangs up, and stops nothing', async () => {
    const isClosed = Promise.withResolvers<void>();
    const server = await serve((response) => {
      response.on('close', isClosed.resolve);
      beginStream(response);
      response.write(toEvents(wholeTurn.slice(0, 4)));
    });
    const model = modelAt(server.url, { onAbort: 'cancel' });
    const { stream } = await model.doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    });
    const reader = stream.getReader();
    for (let type = ''; type !== 'text-delta';) type = (await reader.read()).value?.type ?? 'over';
    const waiting = reader.read();
    // By then it has gone all the way to the connection.
    await setImmediate();
    await reader.cancel();
    expect(await waiting).toMatchObject({ done: true });
    await isClosed.promise;
    expect(server.requests).toHaveLength(1);
  });
});
