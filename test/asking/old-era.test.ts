/** Servers of the old era, which push their questions while the call hangs: held, or left alone where event ids allow it. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { startAskingServer } from '../peers/asking-server.ts';
import type { AskingServer } from '../peers/asking-server.ts';
import { createEventStore } from '../peers/event-store.ts';
import { callOf, nthQuestion, questionsIn, respond, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';

let temporal: DevelopmentServer;
let server: AskingServer;
let service: Service;
let alice: Caller;

beforeAll(async () => {
  temporal = await startDevelopmentServer();
});
afterAll(() => temporal.stop());
afterEach(async () => {
  await service.stop();
  await server.stop();
});

const accept = (nights: number) => ({ action: 'accept', content: { nights } });

describe.each([
  ['without event ids (held)', undefined],
  ['with event ids (left alone)', createEventStore()],
])('%s', (_, eventStore) => {
  const start = async () => {
    server = await startAskingServer({ era: 'legacy', ...(eventStore && { eventStore }) });
    service = await startAsking({ temporal, url: server.config.url });
    alice = await service.as('alice');
  };

  test('a form is asked, answered, and the same call goes on', async () => {
    await start();
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['book', { city: 'Lisbon' }]), { conversation });
    const question = await nthQuestion(stream, 0);
    expect(question).toMatchObject({ mode: 'form', message: 'How many nights in Lisbon?' });
    expect(await respond(alice, conversation, question, accept(3))).toMatchObject({ status: 200 });
    await stream.finished();
    expect(stream.text()).toBe('booked Lisbon for 3');
    expect(server.done).toEqual(['book Lisbon for 3']);
  });

  test('a wizard of three questions', async () => {
    await start();
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['wizard']), { conversation });
    for (const n of [0, 1, 2]) {
      const question = await nthQuestion(stream, n);
      expect(question.message).toBe(`How many nights in city ${n + 1}?`);
      await respond(alice, conversation, question, accept(n + 1));
    }
    await stream.finished();
    expect(stream.text()).toBe('wizard 1,2,3,');
    expect(server.done).toEqual(['wizard 1,2,3,']);
  });

  test('two questions at once', async () => {
    await start();
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['compare']), { conversation });
    const oslo = await nthQuestion(stream, 1);
    const [rome] = questionsIn(stream);
    await respond(alice, conversation, oslo, { action: 'decline' });
    await respond(alice, conversation, rome ?? oslo, accept(2));
    await stream.finished();
    expect(stream.text()).toMatch(/Rome (2|none), Oslo (2|none)/);
  });
});
