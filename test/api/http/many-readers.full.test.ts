/** Many readers of one turn, one of which stops reading: over real sockets, from a real log, through the whole API. */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendEventStream } from '../../../src/api/http/event-stream.ts';
import { createReaders } from '../../../src/api/http/readers.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { heldBytes } from '../../held-bytes.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { beginTurn, startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

let api: ApiUnderTest;
let port: number;
beforeAll(async () => {
  api = await startApi();
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = api.app.server.address() as AddressInfo);
});
afterAll(() => api.stop());

function open(conversation: string, atPort = port): Promise<Response> {
  return fetch(`http://127.0.0.1:${atPort}/run/api/chat/${conversation}/stream`, {
    headers: api.headers('alice'),
  });
}

/** Reads to the end; of what was said, only its length and hash are kept. */
async function read(response: Response) {
  const hash = createHash('sha256');
  let length = 0;
  let isWhole = false;
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events ?? []) {
    isWhole = data === '[DONE]';
    if (isWhole) break;
    const { delta } = JSON.parse(data) as { delta?: string };
    hash.update(delta ?? '');
    length += delta?.length ?? 0;
  }
  return { isWhole, length, hash: hash.digest('hex') };
}

function say(turn: TurnRef, number: number, delta: string): Promise<void> {
  return api.storage.turnLog.append(turn, [
    { key: `delta-${number}`, event: { type: 'text-delta', id: 't', delta } },
  ]);
}

async function begin(conversation: string): Promise<TurnRef> {
  const turn = await beginTurn(api.storage, conversation);
  await api.storage.turnLog.append(turn, [
    { key: 'step', event: { type: 'start-step', step: 1 } },
    { key: 'start', event: { type: 'text-start', id: 't' } },
  ]);
  return turn;
}

async function end(turn: TurnRef): Promise<void> {
  await api.storage.turnLog.append(turn, [{ key: 'end', event: { type: 'text-end', id: 't' } }]);
  await api.storage.turns.end(turn, 'completed');
}

test('a reader that stands still holds up nobody, costs next to nothing, and is told everything when it goes on', async () => {
  const turn = await begin('megabytes');
  const proxy = await startTcpProxy({ to: port, plan: () => [{ kind: 'stall', at: { bytes: 2_000 } }] });
  const arriving = proxy.next();
  const slow = open('megabytes', proxy.port).then(read);
  const line = await arriving;
  const fast = open('megabytes').then(read);

  const megabytes = 24;
  const hash = createHash('sha256');
  const told = async (number: number) => {
    const delta = `${number} `.padEnd(2 ** 16, 'é');
    hash.update(delta);
    await say(turn, number, delta);
  };
  await told(0);
  await line.stalled();
  const before = await heldBytes();
  for (let number = 1; number < 16 * megabytes; number += 1) await told(number);
  await end(turn);
  const whole = { isWhole: true, length: 2 ** 20 * megabytes, hash: hash.digest('hex') };
  expect(await fast).toEqual(whole);
  expect((await heldBytes()) - before).toBeLessThan(6 * 2 ** 20);

  line.goOn();
  expect(await slow).toEqual(whole);
  await proxy.stop();
});

test('a hundred readers, wherever in the turn they come, are told the same', async () => {
  const turn = await begin('popular');
  const readers = [];
  for (let number = 0; number < 200; number += 1) {
    if (number % 2 === 0) readers.push(read(await open('popular')));
    await say(turn, number, `word-${number} `);
  }
  await end(turn);
  const [first, ...others] = await Promise.all(readers);
  expect(first).toMatchObject({ isWhole: true, length: 10 * 7 + 90 * 8 + 100 * 9 });
  for (const other of others) expect(other).toEqual(first);
});

test('a reader that takes nothing for too long is hung up on, and reads the rest when it comes back', async () => {
  const turn = await begin('abandoned');
  const deltas = Array.from({ length: 16 * 16 }, (_, number) => `${number} `.padEnd(2 ** 16, '.'));
  for (const [number, delta] of deltas.entries()) await say(turn, number, delta);
  const { turnLog } = api.storage;

  const impatient = Fastify();
  // With the second reader it has more: that one is only as slow as the machine.
  let stallTimeoutMs = 150;
  const readers = createReaders(impatient);
  const hungUp = Promise.withResolvers<void>();
  impatient.get<{ Params: { after: string } }>('/:after', async ({ params: { after } }, reply) => {
    const signal = readers.listen(reply);
    signal.addEventListener('abort', () => hungUp.resolve());
    const texts = (async function* () {
      for await (const entries of turnLog.follow(turn, Number(after), signal))
        for (const { seq, event } of entries) yield `id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`;
    })();
    return sendEventStream(reply, { texts, signal, stallTimeoutMs });
  });
  await impatient.listen({ port: 0, host: '127.0.0.1' });
  const proxy = await startTcpProxy({
    to: (impatient.server.address() as AddressInfo).port,
    plan: (index) => (index === 0 ? [{ kind: 'stall', at: { bytes: 200_000 } }] : []),
  });

  const seen: { seq: number; delta: string | undefined }[] = [];
  const readOn = async () => {
    const { body } = await fetch(`${proxy.url}/${seen.at(-1)?.seq ?? 0}`);
    const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { id, data } of events ?? []) {
      seen.push({ seq: Number(id), delta: (JSON.parse(data) as { delta?: string }).delta });
      if (seen.length === 3 + deltas.length) return;
    }
  };
  const first = readOn();
  await hungUp.promise;
  stallTimeoutMs = 60_000;
  proxy.goOn();
  await expect(first).rejects.toThrow('terminated');
  expect(seen.length).toBeLessThan(deltas.length);
  await readOn();
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
  expect(seen.flatMap(({ delta }) => delta ?? []).join('') === deltas.join('')).toBe(true);
  await proxy.stop();
  await impatient.close();
});
