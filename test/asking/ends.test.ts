/** How a server's unanswered question ends: the turn ends first, there are too many, or it is too late. */
import { expect, test } from 'vitest';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { accept, city, useAskingService } from './asking-service.ts';

const setup = useAskingService({ env: { ELICITATION_MAX_OPEN: '2' } });
const { begin } = setup;
const two = { one: form('One'), two: form('Two') };

async function toldLater(conversation: string): Promise<string> {
  const messages = await setup.service.storage.messages.list({ tenant: 'demo', conversation });
  return JSON.stringify(messages.filter(({ role }) => role === 'tool'));
}

test('cancelling the turn closes every open question, and the server is not called again', async () => {
  const turn = await begin([asks(two, 's')]);
  await turn.question(1);
  await setup.alice.cancel(turn.conversation);
  const chunks = await turn.stream.finished();
  expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
  expect(turn.statuses()).toEqual(['cancel', 'cancel']);
  expect(setup.server.calls).toHaveLength(1);
  expect(await toldLater(turn.conversation)).toContain('ended while this tool was waiting for the user');
  expect(await turn.answer(0, city())).toMatchObject({ status: 410, body: { code: 'turn_over' } });
});

test('a new message takes the place of a turn that waits for an answer, and the model hears why there is none', async () => {
  const turn = await begin([asks(two, 's')]);
  await turn.question(1);
  const { conversation } = turn;
  const next = await setup.alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
  await turn.stream.finished();
  expect(turn.statuses()).toEqual(['cancel', 'cancel']);
  expect(setup.server.calls).toHaveLength(1);
  expect(await toldLater(conversation)).toContain('sent a new message instead of answering');
  expect(await turn.answer(1, city())).toMatchObject({ status: 410, body: { code: 'turn_over' } });
});

test('one answer of two is kept when a new message comes: it is refused, and the call goes on', async () => {
  const turn = await begin([asks(two, 's')]);
  await turn.answerTo('One', city());
  const { conversation } = turn;
  await expect(setup.alice.chat('hello', { conversation })).rejects.toThrow('turn_in_progress');
  await turn.answerTo('Two', city());
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(setup.server.calls).toHaveLength(2);
});

test('a question over the limit ends the call, with what else the server wanted to know', async () => {
  const waiting = await begin([asks({ one: form('One') })]);
  await waiting.question(0);
  const turn = await begin([asks(two, 's')]);
  const { error } = await turn.end();
  expect(error).toContain('already has too many open ones');
  // All of a round are opened, or none.
  expect(turn.statuses()).toEqual([]);
  expect(setup.server.calls).toHaveLength(1);
  // There is room again at once.
  const third = await begin([asks({ one: form('One') })]);
  await third.answer(0, city());
  expect(await third.end()).toMatchObject({ text: 'done' });
  await setup.alice.cancel(waiting.conversation);
  await waiting.stream.finished();
});

test('a question of somebody else is refused, and one that nobody asked is not known', async () => {
  const bob = await setup.service.as('bob');
  const turn = await begin([asks({ one: form('One') })]);
  const { elicitationId } = await turn.question(0);
  const body = { conversationId: turn.conversation, elicitationId, action: 'decline' };
  expect((await bob.answer(body)).status).toBe(403);
  const unknown = { ...body, elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90' };
  expect((await setup.alice.answer(unknown)).status).toBe(404);
  expect(setup.server.calls).toHaveLength(1);
  await turn.answer(0, accept({}));
  expect(await turn.end()).toMatchObject({ text: 'done' });
});

test('the first answer counts: the same again is a duplicate, another one is told so', async () => {
  const turn = await begin([asks({ one: form('One') }), asks({ two: form('Two') })]);
  await turn.answer(0, city('Rome'));
  await turn.question(1);
  expect(await turn.answer(0, city('Rome'))).toMatchObject({ status: 200, body: { duplicate: true } });
  expect(await turn.answer(0, city('Oslo'))).toMatchObject({ status: 409, body: { outcome: 'accept' } });
  await turn.answer(1, { action: 'decline' });
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(await turn.answer(0, city('Rome'))).toMatchObject({ status: 200, body: { duplicate: true } });
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({
    one: { action: 'accept', content: { city: 'Rome' } },
  });
});

test('a page that is loaded again shows the questions that are open, and the list has them', async () => {
  const turn = await begin([asks({ one: form('One') }), asks({ two: form('Two') }, 's')]);
  await turn.answer(0, city());
  const { elicitationId } = await turn.question(1);
  turn.stream.close();
  const again = await setup.alice.rejoin(turn.conversation);
  if (!again) throw new Error('The turn is over.');
  const pending = await again.until(
    ({ type, data }) =>
      type === 'data-elicitation-request' &&
      (data as { elicitationId: string }).elicitationId === elicitationId,
  );
  expect(pending['data']).toMatchObject({ status: 'pending', message: 'Two', mode: 'form' });
  const list = `/run/v1/conversations/${turn.conversation}/elicitations`;
  expect((await setup.alice.request('GET', `${list}?status=pending`)).body).toMatchObject({
    items: [{ elicitationId, message: 'Two', requestedSchema: { properties: { city: { type: 'string' } } } }],
  });
  expect((await setup.alice.request('GET', list)).body['items']).toHaveLength(2);
  await turn.answer(1, city());
  await again.finished();
  expect(again.text()).toBe('done');
  expect((await setup.alice.request('GET', `${list}?status=pending`)).body['items']).toEqual([]);
});

test.each([
  ['only waits for the answer', 'any more. The tool did not run.', false],
  ['has sent an answer, and its process ended', 'unknown whether the action took place', true],
])('a call whose server is taken out of the agents file says so where it %s', async (_, says, isSent) => {
  const { servers } = setup.service.parts.config;
  const turn = await begin([asks({ one: form('One') }, 's')]);
  await turn.question(0);
  if (isSent) {
    const of = { tenant: 'demo', conversation: turn.conversation, turnId: turn.stream.turnId };
    const { toolCalls } = setup.service.storage;
    const [call] = await toolCalls.unfinished(of);
    await toolCalls.start(of, call?.toolCallId ?? '', { execution: 0, attempt: 1 });
  }
  const server = servers.get('asking');
  servers.delete('asking');
  try {
    expect(await turn.answer(0, city())).toMatchObject({ status: 200 });
    expect((await turn.end()).error).toContain(says);
    expect(await toldLater(turn.conversation)).toContain(says);
    expect(setup.server.calls).toHaveLength(1);
  } finally {
    if (server) servers.set('asking', server);
  }
});
