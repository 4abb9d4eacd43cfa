/** What becomes of a question is written without an activity slot: a worker may have none left for a long time. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { startAskingServer } from '../servers/asking-server.ts';
import type { AskingServer } from '../servers/asking-server.ts';
import { callOf, nthQuestion, respond, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';

let temporal: DevelopmentServer;
let server: AskingServer;
let service: Service;
let release: () => void;

beforeAll(async () => {
  temporal = await startDevelopmentServer();
  server = await startAskingServer({ era: 'legacy' });
});
afterAll(async () => {
  await server.stop();
  await temporal.stop();
});
afterEach(async () => {
  release();
  await service.stop();
});

/** A worker with two slots: one is taken by alice's held call, the other by a step of bob that does not get on. */
async function withoutSlots(env: Record<string, string> = {}) {
  const stuck = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  release = released.resolve;
  let isBobs = false;
  service = await startAsking({
    temporal,
    url: server.config.url,
    env: { WORKER_CALLS: '1', WORKER_HELD_CALLS: '1', ...env },
    around: (storage) => ({
      ...storage,
      messages: {
        ...storage.messages,
        async list(ref) {
          if (isBobs) {
            stuck.resolve();
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
  const other = await bob.chat('hello');
  await stuck.promise;
  isBobs = false;
  return { alice, conversation, stream, question, other };
}

test('an answer takes effect while no slot is left', async () => {
  const { alice, conversation, stream, question, other } = await withoutSlots();
  const given = { action: 'accept', content: { nights: 2 } };
  expect(await respond(alice, conversation, question, given)).toMatchObject({ status: 200 });
  await stream.finished();
  expect(stream.text()).toContain('booked Oslo for 2');
  release();
  await other.finished();
});

test('a deadline takes effect while no slot is left', async () => {
  const { stream, other } = await withoutSlots({ ELICITATION_TIMEOUT: '2s' });
  await stream.question('expired');
  await stream.finished();
  release();
  await other.finished();
});
