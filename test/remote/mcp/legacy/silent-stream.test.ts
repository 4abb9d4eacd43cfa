/** Go's SDK with an event store: a resumed stream gets no headers before its first event. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';
import type { ToolCall } from '../../../../src/remote/remote-servers.ts';
import { startAskingServer } from '../../../servers/asking-server.ts';
import type { AskingServer } from '../../../servers/asking-server.ts';
import { createEventStore } from '../../../servers/event-store.ts';

const credential: Credential = { kind: 'credential', headers: {}, version: 1 };
const { signal } = new AbortController();
let server: AskingServer;
let remote = openRemoteServers();

beforeEach(async () => {
  remote = openRemoteServers();
  server = await startAskingServer({
    era: 'legacy',
    eventStore: createEventStore(),
    guard(request, response) {
      if (request.headers['last-event-id'] !== undefined) response.flushHeaders = () => undefined;
      return false;
    },
  });
});
afterEach(async () => {
  await remote.close();
  await server.stop();
});

function call(continuation?: ToolCall['continuation']) {
  return remote.callTool(server.config, credential, {
    name: 'book',
    arguments: { city: 'Lisbon' },
    callId: 'c1',
    capabilities: { form: true, url: true },
    continuation,
    signal,
  });
}

async function pausedCall() {
  const paused = await call();
  if (paused.kind !== 'asks' || paused.pause.resume.kind !== 'detached')
    throw new Error(`it was not left to its server: ${paused.kind}`);
  return paused.pause;
}

test('the answer is sent without waiting for the headers, and the result follows', async () => {
  const { questions, resume } = await pausedCall();
  const content = { nights: 3 };
  const answers = questions.map(({ key }) => ({ key, action: 'accept' as const, content }));
  expect(await call({ resume, answers })).toMatchObject({
    kind: 'result',
    result: { content: [{ type: 'text', text: 'booked Lisbon for 3' }] },
  });
  expect(server.done).toEqual(['book Lisbon for 3']);
});

test('an observation ends although nothing comes, so that the next reader is not refused', async () => {
  const { questions, resume } = await pausedCall();
  const access = { server: server.config, credential, signal: AbortSignal.timeout(8_000) };
  expect(await remote.observeCall(access, { questions, resume }, 1)).toEqual({ kind: 'unchanged' });
  expect(access.signal.aborted).toBe(false);
});
