/** Servers of the new era: rounds that the workflow drives, with nothing held between them. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { startAskingServer } from '../peers/asking-server.ts';
import type { AskingServer } from '../peers/asking-server.ts';
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
beforeEach(async () => {
  server = await startAskingServer({ era: 'modern' });
  service = await startAsking({ temporal, url: server.config.url });
  alice = await service.as('alice');
});
afterEach(async () => {
  await service.stop();
  await server.stop();
});

const accept = (nights: number) => ({ action: 'accept', content: { nights } });

test('a form is asked, answered and the call is made again with the answer', async () => {
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['book', { city: 'Lisbon' }]), { conversation });
  const question = await nthQuestion(stream, 0);
  expect(question).toMatchObject({
    mode: 'form',
    message: 'How many nights in Lisbon?',
    context: { trigger: 'mcp_elicitation', server: 'asking', serverTitle: 'Asking', toolName: 'book' },
  });
  expect(server.done).toEqual([]);
  expect(await respond(alice, conversation, question, accept(3))).toMatchObject({ status: 200 });
  await stream.finished();
  expect(stream.text()).toBe('booked Lisbon for 3');
  expect(server.done).toEqual(['book Lisbon for 3']);
});

test('a wizard of three rounds gets each answer once, and its own state back', async () => {
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

test('questions of one round are asked together, and one may be declined', async () => {
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['compare']), { conversation });
  const oslo = await nthQuestion(stream, 1);
  const [rome] = questionsIn(stream);
  await respond(alice, conversation, oslo, { action: 'decline' });
  await respond(alice, conversation, rome ?? oslo, accept(2));
  await stream.finished();
  expect(stream.text()).toBe('Rome 2, Oslo none');
});
