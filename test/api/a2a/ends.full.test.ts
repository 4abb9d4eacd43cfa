/** Each end of a turn and of a question, as the state of its task: the tables of docs/a2a.md. */
import { expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form, page } from '../../servers/scripted-mcp-server.ts';
import {
  answerOf,
  connectAgent,
  elicitationExtension,
  readStream,
  stateOf,
  wordsOf,
  watch,
} from './a2a-client.ts';

const setup = useAskingService();
const hasty = useAskingService({ env: { ELICITATION_TIMEOUT: '2s' } });
const question = asks({ city: form('Which city?', { city: { type: 'string' } }) });
const callAsk = 'call asking__ask {}';

test('a newer message in the context takes the place of a task that waits with two questions', async () => {
  const text = { type: 'string' };
  setup.server.play(
    asks({ city: form('Which city?', { city: text }), day: form('Which day?', { day: text }) }),
  );
  const agent = await connectAgent(setup.service);
  const { id, contextId } = await agent.send(callAsk);
  const next = await agent.send('hello', { contextId });
  expect(stateOf(next)).toBe('COMPLETED');
  const old = await agent.get(id);
  expect([stateOf(old), wordsOf(old)]).toEqual([
    'CANCELED',
    'A newer message in this context took the place of this one.',
  ]);
  await expect(agent.send('Lisbon', { taskId: id })).rejects.toThrow(/over/);
});

test('nobody answers in time: the model is told, and the task goes on in a stream that waits', async () => {
  hasty.server.play(asks({ there: page('https://example.com/a') }));
  const agent = await connectAgent(hasty.service);
  const { states } = await readStream(agent.stream(callAsk));
  expect(states).toContain('AUTH_REQUIRED');
  expect(states.at(-1)).toBe('COMPLETED');
});

test('an answer that comes too late is refused', async () => {
  hasty.server.play(question);
  const agent = await connectAgent(hasty.service);
  const { id } = await agent.send(callAsk);
  await expect.poll(async () => stateOf(await agent.get(id))).toBe('COMPLETED');
  await expect(agent.send('Lisbon', { taskId: id })).rejects.toThrow(/over/);
});

test.each(['decline', 'cancel'])('%s by the extension ends the question, not the task', async (action) => {
  setup.server.play(question);
  const agent = await connectAgent(setup.service, { extension: true });
  const asked = await agent.send(callAsk);
  const structured = asked.status?.message?.metadata?.[elicitationExtension] as Record<string, string>;
  const elicitationId = structured['elicitationId'];
  const task = await agent.send('', {
    taskId: asked.id,
    metadata: { [elicitationExtension]: { elicitationId, action } },
  });
  expect(stateOf(task)).toBe('COMPLETED');
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ city: { action } });
});

test('“no” to a link is a refusal, also in the stream that waits', async () => {
  setup.server.play(asks({ there: page('https://example.com/a') }));
  const agent = await connectAgent(setup.service);
  const asked = await agent.send(callAsk);
  expect(stateOf(asked)).toBe('AUTH_REQUIRED');
  const watching = await watch(agent.client.resubscribeTask({ id: asked.id, tenant: '' }));
  await agent.send('not now', { taskId: asked.id });
  expect((await watching.end).states.at(-1)).toBe('COMPLETED');
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ there: { action: 'decline' } });
});

test('a message to a task at work is refused; so is an answer to a question that it does not ask', async () => {
  setup.server.play(question);
  const agent = await connectAgent(setup.service, { extension: true });
  const asked = await agent.send(callAsk);
  const foreign = { elicitationId: 'another', action: 'accept', content: { city: 'Lisbon' } };
  const send = agent.send('', { taskId: asked.id, metadata: { [elicitationExtension]: foreign } });
  await expect(send).rejects.toThrow(/asks nothing/);
  await agent.client.cancelTask({ id: asked.id, tenant: '', metadata: undefined });
});

test('behind a service nobody is asked: the model is told at once', async () => {
  setup.server.play(question);
  const agent = await connectAgent(setup.service, { token: await setup.service.apiKey() });
  const task = await agent.send(callAsk);
  expect(stateOf(task)).toBe('COMPLETED');
  expect(answerOf(task)).not.toBe('');
});
