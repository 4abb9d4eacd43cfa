/** Temporal takes what the API sends and says nothing any more: answers and cancellations need no word of it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser, words } from '../api/pages/browser.ts';
import { startDevelopmentServer } from '../development-server.ts';
import { asks, done, form, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';
import { accept, asTurn, city, roundsAgents } from './asking-service.ts';

const stack = new AsyncDisposableStack();
let line: Awaited<ReturnType<typeof startLine>>;
let server: ScriptedMcpServer;
let service: Service;
let alice: Caller;

beforeAll(async () => {
  const temporal = await startDevelopmentServer();
  stack.defer(() => temporal.stop());
  line = await startLine(temporal.address);
  stack.defer(() => line.stop());
  // Only the API's; the worker has its own.
  const connection = await Connection.connect({ address: line.address });
  stack.defer(() => connection.close());
  const client = new Client({ connection, namespace: 'default' });
  server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  service = await startAsking({
    temporal: { client, connection: temporal.connection },
    url: server.url,
    env: { INTERLUDE_CONFIG: roundsAgents },
  });
  stack.defer(() => service.stop());
  alice = await service.as('alice');
});
afterAll(() => stack.disposeAsync());

/** To Temporal; what comes back can be kept for later. */
async function startLine(address: string) {
  const [host = '', port] = address.split(':');
  let kept: (() => void)[] | null = null;
  const listener = createServer((near) => {
    const far = connect(Number(port), host);
    near.on('data', (chunk) => far.write(chunk)).on('close', () => far.destroy());
    near.on('error', () => far.destroy());
    far.on('data', (chunk) => {
      if (kept) kept.push(() => near.write(chunk));
      else near.write(chunk);
    });
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    address: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    mute: () => void (kept = []),
    unmute() {
      for (const say of kept ?? []) say();
      kept = null;
    },
    stop: async () => void listener.close(),
  };
}

async function askedForCity() {
  server.play(asks({ trip: form('Which city?', { city: { type: 'string', title: 'City' } }) }));
  const turn = await asTurn(alice, randomUUID(), (conversation) =>
    alice.chat(callOf(['ask']), { conversation }),
  );
  return { turn, ...(await turn.question(0)) };
}

test('a message while Temporal is silent is refused, and the turn that waits still waits', async () => {
  const { turn, elicitationId } = await askedForCity();
  line.mute();
  const refused = await alice
    .request('POST', '/run/api/chat', {
      id: turn.conversation,
      messages: [{ id: 'other', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    })
    .finally(() => line.unmute());
  expect(refused).toMatchObject({
    status: 503,
    body: { code: 'unavailable', detail: expect.stringContaining('the one before it goes on') as string },
  });
  expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  server.play(done('booked'));
  expect(await turn.answer(0, city())).toMatchObject({ status: 200 });
  expect(await turn.end()).toMatchObject({ text: 'booked' });
});

test('an answer counts while Temporal is silent, takes effect, and may be sent again', async () => {
  const { turn } = await askedForCity();
  line.mute();
  const { status, body } = await turn.answer(0, city());
  line.unmute();
  expect([status, body]).toMatchObject([200, { status: 'accept', duplicate: false }]);
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(await turn.answer(0, accept({ city: 'Lisbon' }))).toMatchObject({
    status: 200,
    body: { duplicate: true },
  });
});

test('so does one that is given on the page', async () => {
  const { turn, elicitationId } = await askedForCity();
  const browser = new Browser();
  const signIn = await browser.open(`${service.baseUrl}/auth/answer?e=${elicitationId}`);
  const shown = await browser.press(signIn, { user: 'alice' });
  line.mute();
  const said = await browser.press(shown, { action: 'accept' }, { 'f.city': 'Lisbon' });
  line.unmute();
  expect(said.status).toBe(200);
  expect(words(said)).not.toMatch(/arrived nevertheless/);
  expect(await turn.end()).toMatchObject({ text: 'done' });
});

test('a cancellation is accepted while Temporal is silent', async () => {
  const { turn } = await askedForCity();
  line.mute();
  const cancelled = await alice.cancel(turn.conversation);
  line.unmute();
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelling' } });
  await turn.end();
});
