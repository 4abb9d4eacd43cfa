/** How many events a turn leaves in Temporal: each is a write there, and Temporal Cloud bills by them. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { searchAttributes } from '../../src/workflows/messages.ts';
import { startAskingServer } from '../servers/asking-server.ts';
import { askingEnv, callOf, nthQuestion, respond } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { idOf, untilWaiting } from './waiting.ts';
import type { ObservedTurn } from './waiting.ts';

const { temporal, alice } = useService({
  per: 'test',
  async needs(stack) {
    const server = await startAskingServer({ era: 'modern' });
    stack.defer(() => server.stop());
    return { env: askingEnv(server.config.url) };
  },
});
beforeEach(async () => {
  // The first call of a server lists its tools.
  await (await alice.chat('hello')).finished();
});

const handleOf = (turn: ObservedTurn) => temporal.client.workflow.getHandle(idOf(turn));

/** A turn that asks so many questions, each answered at once. */
async function eventsOf(text: string, questions: number): Promise<string[]> {
  const conversation = randomUUID();
  const stream = await alice.chat(text, { conversation });
  for (let n = 0; n < questions; n++) {
    const question = await nthQuestion(stream, n);
    // A question is seen before its workflow waits for it; an answer in between is for another test.
    await untilWaiting({ temporal }, { conversation, stream });
    await respond(alice, conversation, question, { action: 'accept', content: { nights: n + 1 } });
  }
  await stream.finished();
  await handleOf({ conversation, stream }).result();
  const { events } = await handleOf({ conversation, stream }).fetchHistory();
  return (events ?? []).map(({ eventType }) => String(eventType));
}

/** With its start; the step itself writes the end. */
const stepEvents = 11;

test('a turn of one step is 11 events', async () => {
  expect(await eventsOf('hello', 0)).toHaveLength(stepEvents);
});

/** A call of a tool, and the step that reads its result, without the question: one activity and one workflow task. */
const callEvents = 6;

test('a question is at most 13 events, with the call that is made again; the next ones are fewer', async () => {
  const one = await eventsOf(callOf(['book', { city: 'Oslo' }]), 1);
  expect(one.length - stepEvents - callEvents).toBeLessThanOrEqual(13);
  const three = await eventsOf(callOf(['wizard']), 3);
  // The timer is there already. So three calls in three steps, with a question each, are at most 68.
  expect(three.length - stepEvents - callEvents).toBeLessThanOrEqual(3 * 13 - 2);
});

test('operators find the turns that wait, and no longer those that do not', async () => {
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
  const question = await nthQuestion(stream, 0);
  const attributes = async () => {
    const { typedSearchAttributes: of } = await handleOf({ conversation, stream }).describe();
    return [of.get(searchAttributes.status), of.get(searchAttributes.waitsFor)];
  };
  await expect.poll(attributes).toEqual(['waiting_input', ['asking']]);
  await respond(alice, conversation, question, { action: 'decline' });
  await stream.finished();
  await handleOf({ conversation, stream }).result();
  expect(await attributes()).toEqual([undefined, undefined]);
});
