import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fetch } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AddressRefused, createGuardedAgent } from '../../../src/platform/network/guarded-agent.ts';
import { startServer } from '../../credentials/guarded-server.ts';

/** Counts who connects, and says nothing. */
async function secret() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

type Addresses = { address: string; family: number }[];
const at = (...addresses: string[]): Addresses =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** A name server of the attacker's: another answer each time. */
function answering(...answers: Addresses[]) {
  let asked = 0;
  return {
    asked: () => asked,
    resolve: (_: string, __: object, callback: (error: null, addresses: Addresses) => void) =>
      callback(null, answers[Math.min(asked++, answers.length - 1)] ?? []),
  };
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.cause : error),
  );

test.each([
  '127.0.0.1',
  '[::ffff:127.0.0.1]',
  '2130706433',
  '0x7f000001',
  '[::1]',
  '[::ffff:7f00:1]',
  '0.0.0.0',
])('nothing connects to http://%s for somebody else', async (host) => {
  const { port, connections } = await secret();
  const dispatcher = createGuardedAgent('public');
  expect(await failureOf(fetch(`http://${host}:${port}/`, { dispatcher }))).toBeInstanceOf(AddressRefused);
  expect(connections()).toBe(0);
});

test.each([['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['169.254.169.254']])(
  'a name that is %s (%s) is not connected to',
  async (...addresses) => {
    const { port, connections } = await secret();
    const names = answering(at(...addresses));
    const dispatcher = createGuardedAgent('public', names);
    const failure = await failureOf(fetch(`http://attacker.example:${port}/`, { dispatcher }));
    expect(failure).toBeInstanceOf(AddressRefused);
    expect(connections()).toBe(0);
  },
);

test('a name that changes between two looks is looked up once, and what was looked at is connected to', async () => {
  const origin = await startServer((_, response) => response.end('the first'));
  const { port } = new URL(origin);
  const names = answering(at('127.0.0.1'), at('127.0.0.2'));
  const looked: string[] = [];
  const dispatcher = createGuardedAgent('public', {
    ...names,
    allows: (address) => {
      looked.push(address);
      return address === '127.0.0.1';
    },
  });
  const answer = await fetch(`http://attacker.example:${port}/`, {
    dispatcher,
    headers: { connection: 'close' },
  });
  expect(await answer.text()).toBe('the first');
  expect([names.asked(), looked]).toEqual([1, ['127.0.0.1']]);
  const failure = await failureOf(fetch(`http://attacker.example:${port}/`, { dispatcher }));
  expect(failure).toBeInstanceOf(AddressRefused);
});

test('what is local is reached by name and by address', async () => {
  const origin = await startServer((_, response) => response.end('here'));
  const { port } = new URL(origin);
  const dispatcher = createGuardedAgent('local', answering(at('127.0.0.1')));
  for (const host of ['127.0.0.1', 'tracker'])
    expect(await (await fetch(`http://${host}:${port}/`, { dispatcher })).text()).toBe('here');
});

test('a proxy that the environment names is not asked for an address inside', async () => {
  const proxy = await secret();
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('http_proxy', `http://127.0.0.1:${proxy.port}`);
  for (const name of ['no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined);
  const dispatcher = createGuardedAgent('public');
  expect(await failureOf(fetch('http://10.0.0.1/', { dispatcher }))).toBeInstanceOf(AddressRefused);
  expect(proxy.connections()).toBe(0);
});
