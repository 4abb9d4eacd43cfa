/**
 * An attempt at a call that another attempt has replaced: its process was frozen or cut off for so long that a second one
 * took the call over and abandoned it at the server.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { cancelServerCall } from '../../src/remote/mcp/legacy/observe-call.ts';
import { startBookingServer } from '../servers/booking-server.ts';
import type { BookingServer } from '../servers/booking-server.ts';
import { askingEnv, callOf, nthQuestion, questionsIn, respond } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';

let server: BookingServer;
const { service, alice } = useService({
  async needs(stack) {
    server = await startBookingServer('held');
    stack.defer(() => server.stop());
    return { env: askingEnv(server.config.url) };
  },
  // Which tools may be repeated is known afterwards.
  prepare: async () => (await alice.chat('hello', { conversation: randomUUID() })).finished(),
});

/** As the attempt that makes the call anew does it. */
async function abandonCallAtServer(): Promise<void> {
  const call = server.requests.find(({ method }) => method === 'tools/call');
  if (!call) throw new Error('it was made');
  const { id: callId } = call.body as { id: number };
  const sessionId = String(call.headers['mcp-session-id']);
  const protocolVersion = String(call.headers['mcp-protocol-version']);
  const credential = { kind: 'credential' as const, headers: {}, version: 0 };
  const access = { server: server.config, credential, signal: new AbortController().signal };
  await cancelServerCall(access, { sessionId, protocolVersion, callId });
}

test('does not close the question that the other one asks again', async () => {
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['plan', { city: 'Lisbon' }]), { conversation });
  const question = await nthQuestion(stream, 0);
  const turn = { tenant: 'demo', conversation, turnId: stream.turnId };
  const { toolCalls } = service.storage;
  const [call] = await toolCalls.unfinished(turn);
  const taken = await toolCalls.take(turn, call?.toolCallId ?? '', { execution: 0, attempt: 2 });
  expect(taken).toMatchObject({ state: 'started' });
  await abandonCallAtServer();
  await expect.poll(() => server.called()).toHaveLength(2);
  const reply = await respond(alice, conversation, question, { action: 'accept', content: { nights: 3 } });
  expect(reply.status).toBe(200);
  await stream.finished();
  expect(stream.text()).toBe('plan: Lisbon for 3');
  expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }]);
  expect(server.done).toEqual(['plan Lisbon for 3']);
});
