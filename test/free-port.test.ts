import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from './free-port.ts';

test('a port that another process was given is not given again, though nobody listens on it yet', async () => {
  const before = await freePort();
  const mark = createSocket('udp4').bind(before + 1, '127.0.0.1');
  onTestFinished(() => void mark.close());
  await once(mark, 'listening');
  expect(await freePort()).not.toBe(before + 1);
});

test('a port that somebody listens on is not given', async () => {
  const before = await freePort();
  const server = createServer().listen(before + 1, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  expect(await freePort()).not.toBe(before + 1);
});
