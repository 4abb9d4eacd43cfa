import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { sendEventStream, toData, withHeartbeat } from '../../../src/api/http/event-stream.ts';
import type { EventStream } from '../../../src/api/http/event-stream.ts';

const never = new AbortController().signal;

test('commits the response before there is anything to say', async () => {
  const silent = (async function* () {})();
  expect(await collect(withHeartbeat(silent, never, 1_000))).toEqual([': stream-open\n\n']);
});

test('data is one line, also for clients that end lines at U+2028, U+2029 or U+0085', () => {
  const value = { text: 'a\u2028b\u2029c\u0085d\r\n\v\f\u001Ce' };
  const text = toData(value);
  for (const end of ['\n', '\r', '\v', '\f', '\u001C', '\u0085', '\u2028', '\u2029'])
    expect(text.trimEnd()).not.toContain(end);
  expect(JSON.parse(text.slice('data: '.length))).toEqual(value);
});

test('fills every silence with a comment, and nothing else', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>();
  const source = (async function* () {
    yield 'one';
    await pause;
    yield 'two';
  })();
  const texts = [];
  for await (const text of withHeartbeat(source, never, 1)) {
    texts.push(text);
    if (texts.filter((seen) => seen.startsWith(': keep-alive')).length === 2) goOn();
  }
  expect(texts.slice(0, 4)).toEqual([': stream-open\n\n', 'one', ': keep-alive\n\n', ': keep-alive\n\n']);
  expect(texts.at(-1)).toBe('two');
});

test('ends when nobody listens any more, even while the source is silent', async () => {
  const listening = new AbortController();
  const source = (async function* () {
    yield 'one';
    setImmediate(() => listening.abort());
    await new Promise<never>(() => undefined);
  })();
  expect(await collect(withHeartbeat(source, listening.signal, 60_000))).toEqual([
    ': stream-open\n\n',
    'one',
  ]);
});

test('does not read ahead for a slow reader', async () => {
  let produced = 0;
  const source = (async function* () {
    for (;;) yield String(++produced);
  })();
  const stream = withHeartbeat(source, never, 60_000);
  await stream.next();
  await stream.next();
  await stream.next();
  expect(produced).toBeLessThanOrEqual(3);
  await stream.return(undefined);
});

test('lets go of its source when the response is given up, whatever the reason', async () => {
  const letGo = Promise.withResolvers<void>();
  const source = (async function* () {
    try {
      yield 'one';
      yield 'two';
    } finally {
      letGo.resolve();
    }
  })();
  const stream = withHeartbeat(source, never, 60_000);
  await stream.next();
  await stream.next();
  await stream.return(undefined);
  await letGo.promise;
});

test('passes on that its source failed', async () => {
  const source = (async function* (): AsyncGenerator<string> {
    yield 'one';
    throw new Error('the log cannot be read');
  })();
  await expect(collect(withHeartbeat(source, never, 60_000))).rejects.toThrow('the log cannot be read');
});

/** Answers every request with this stream, and tells how each response ended. */
async function serve(stream: Pick<EventStream, 'texts' | 'heartbeatMs' | 'stallTimeoutMs'>) {
  const app = Fastify();
  const closed = Promise.withResolvers<'finished' | 'cut'>();
  app.get('/', async (_, reply) => {
    const listening = new AbortController();
    reply.raw.once('close', () => {
      listening.abort();
      closed.resolve(reply.raw.writableFinished ? 'finished' : 'cut');
    });
    return sendEventStream(reply, { ...stream, signal: listening.signal });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const reader = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  reader.write('GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n');
  return {
    reader,
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      reader.destroy();
      await app.close();
    },
  };
}

describe('a reader on a real socket', () => {
  const megabytes = async function* (count: number) {
    for (let said = 0; said < count; said += 1) yield `data: ${'x'.repeat(2 ** 20)}\n\n`;
  };

  test('is hung up on when it takes nothing although there is something for it', async () => {
    await using stream = await serve({ texts: megabytes(100), stallTimeoutMs: 100 });
    stream.reader.pause();
    const reset = once(stream.reader, 'error');
    expect(await stream.closed).toBe('cut');
    stream.reader.resume();
    expect((await reset)[0]).toMatchObject({ code: 'ECONNRESET' });
  });

  test('is not hung up on for reading slowly', async () => {
    await using stream = await serve({ texts: megabytes(32), stallTimeoutMs: 2_000 });
    let taken = 0;
    for await (const bytes of stream.reader) {
      const isNextMegabyte = (taken + bytes.length) >> 20 > taken >> 20;
      taken += bytes.length;
      // All in all much longer than the patience.
      if (isNextMegabyte) await delay(100);
    }
    expect(await stream.closed).toBe('finished');
    expect(taken).toBeGreaterThan(32 * 2 ** 20);
  });

  test('is not hung up on for a silence that is not its own', async () => {
    const silent = (async function* () {
      yield 'data: one\n\n';
      await delay(500);
      yield 'data: two\n\n';
    })();
    await using stream = await serve({ texts: silent, stallTimeoutMs: 50, heartbeatMs: 60_000 });
    let taken = '';
    for await (const bytes of stream.reader) taken += String(bytes);
    expect(taken).toContain('data: two');
    expect(await stream.closed).toBe('finished');
  });
});

async function collect(texts: AsyncIterable<string>): Promise<string[]> {
  const seen = [];
  for await (const text of texts) seen.push(text);
  return seen;
}
