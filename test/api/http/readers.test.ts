/** Readers that leave at awkward moments, on real sockets. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { sendEventStream } from '../../../src/api/http/event-stream.ts';
import { createReaders } from '../../../src/api/http/readers.ts';

const stack: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of stack.splice(0).toReversed()) await undo();
});

async function listening(app: FastifyInstance): Promise<Socket> {
  stack.push(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  stack.push(() => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n');
  return socket;
}

test('a reader that left before anybody listened for it is gone from the start', async () => {
  const app = Fastify();
  const readers = createReaders(app);
  const arrived = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<boolean>();
  app.get('/', async (_, reply) => {
    arrived.resolve();
    await once(reply.raw, 'close');
    decided.resolve(readers.listen(reply).aborted);
    return reply.hijack();
  });
  const socket = await listening(app);
  await arrived.promise;
  socket.destroy();
  expect(await decided.promise).toBe(true);
});

test('a reader that does not read cannot keep the service from closing', async () => {
  const app = Fastify();
  const readers = createReaders(app, { graceMs: 100 });
  const stuck = Promise.withResolvers<void>();
  app.get('/', async (_, reply) => {
    const signal = readers.listen(reply);
    const texts = (async function* () {
      for (;;) {
        if (reply.raw.writableNeedDrain) stuck.resolve();
        yield `data: ${'x'.repeat(1_000_000)}\n\n`;
      }
    })();
    return sendEventStream(reply, { texts, signal });
  });
  const socket = await listening(app);
  socket.pause();
  await stuck.promise;
  await app.close();
  expect(app.server.listening).toBe(false);
});

test('a request that never comes to its end cannot keep the service from closing', async () => {
  const app = Fastify();
  createReaders(app, { graceMs: 100 });
  app.post('/', async () => 'never');
  const socket = await listening(app);
  socket.write(
    'POST / HTTP/1.1\r\nhost: test\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf',
  );
  await once(socket, 'data');
  await app.close();
  expect(app.server.listening).toBe(false);
});

test('a connection that is never used does not keep the service from closing', async () => {
  const app = Fastify();
  createReaders(app, { graceMs: 60_000 });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const accepted = once(app.server, 'connection');
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  stack.push(() => socket.destroy());
  await accepted;
  await app.close();
  expect(app.server.listening).toBe(false);
});
