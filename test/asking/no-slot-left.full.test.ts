/** What becomes of a question is written without an activity slot: a worker may have none left for a long time. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startAskingServer } from '../servers/asking-server.ts';
import type { AskingServer } from '../servers/asking-server.ts';
import { callOf, nthQuestion, respond, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

const temporal = useDevelopmentServer();
let server: AskingServer;
/** Its calls leave their slot while people think. */
let modern: AskingServer;
let service: Service;
let release: () => void;

beforeAll(async () => {
  server = await startAskingServer({ era: 'legacy' });
  modern = await startAskingServer({ era: 'modern' });
});
afterAll(async () => {
  await server.stop();
  await modern.stop();
});
afterEach(async () => {
  release();
  await service.stop();
});

/**
 * A worker with two slots: one is taken by alice's held call, where her server holds it, and the others by steps of bob
 * that do not get on.
 */
async function withoutSlots(env: Record<string, string> = {}, { url } = server.config, stuckSteps = 1) {
  const stuck = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  release = released.resolve;
  let isBobs = false;
  let count = 0;
  service = await startAsking({
    temporal,
    url,
    env: { WORKER_CALLS: '1', WORKER_HELD_CALLS: '1', ...env },
    around: (storage) => ({
      ...storage,
      messages: {
        ...storage.messages,
        async list(ref) {
          if (isBobs) {
            if (++count === stuckSteps) stuck.resolve();
            await released.promise;
          }
          return storage.messages.list(ref);
        },
      },
    }),
  });
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
  const question = await nthQuestion(stream, 0);
  isBobs = true;
  const bob = await service.as('bob');
  const others = [];
  for (let step = 0; step < stuckSteps; step++) others.push(await bob.chat('hello'));
  await stuck.promise;
  isBobs = false;
  return { alice, conversation, stream, question, others };
}

test('an answer takes effect while no slot is left', async () => {
  const { alice, conversation, stream, question, others } = await withoutSlots();
  const given = { action: 'accept', content: { nights: 2 } };
  expect(await respond(alice, conversation, question, given)).toMatchObject({ status: 200 });
  await stream.finished();
  expect(stream.text()).toContain('booked Oslo for 2');
  release();
  for (const other of others) await other.finished();
});

test('a deadline takes effect while no slot is left', async () => {
  const { stream, others } = await withoutSlots({ ELICITATION_TIMEOUT: '2s' });
  await stream.question('expired');
  await stream.finished();
  release();
  for (const other of others) await other.finished();
});

describe('an answer whose call goes on with it and never gets a slot is on record, marked as unused,', () => {
  const given = { action: 'accept', content: { nights: 2 } };
  const answered = async (env: Record<string, string> = {}) => {
    const turn = await withoutSlots(env, modern.config, 2);
    const { alice, conversation, stream, question } = turn;
    const { elicitationId } = question;
    const receipt = await alice.answer({ conversationId: conversation, elicitationId, ...given });
    expect(receipt).toMatchObject({ status: 200, body: { status: 'accept' } });
    const recorded = async () => {
      await stream.finished();
      expect(stream.text()).not.toContain('booked');
      return service.storage.elicitations.get(elicitationId);
    };
    return { ...turn, recorded };
  };

  test('when its turn is cancelled', async () => {
    const { alice, conversation, recorded } = await answered();
    await alice.request('POST', `/run/api/chat/${conversation}/cancel`);
    expect(await recorded()).toMatchObject({ status: 'accept', isUnused: true });
  });

  test('when its turn runs out of time', async () => {
    const { recorded } = await answered({ ELICITATION_TIMEOUT: '15s', TURN_TIMEOUT: '17s' });
    expect(await recorded()).toMatchObject({ status: 'accept', isUnused: true });
  });
});
