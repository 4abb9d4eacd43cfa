import { expect, test } from 'vitest';
import { withHeartbeat } from '../../src/api/event-stream.ts';

const never = new AbortController().signal;

test('commits the response before there is anything to say', async () => {
  const silent = (async function* () {})();
  expect(await collect(withHeartbeat(silent, never, 1_000))).toEqual([': stream-open\n\n']);
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
    listening.abort();
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

async function collect(texts: AsyncIterable<string>): Promise<string[]> {
  const seen = [];
  for await (const text of texts) seen.push(text);
  return seen;
}
