/** Clients of A2A call our agents, with the official SDK over each transport and version: how a task goes, and each end of a question. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { connectAgent, stateOf, wordsOf } from './a2a-client.ts';
import { callAsk, named, testTasks } from './tasks.ts';

const setup = useAskingService();

testTasks(setup, [
  ['JSONRPC', '1.0'],
  ['HTTP+JSON', '1.0'],
]);

test('a message that is sent again is the same task, also when its answer is already on record', async () => {
  const question = { city: form('Which city?', named) };
  setup.server.play(asks(question), asks({ day: form('Which day?', { day: { type: 'string' } }) }));
  const agent = await connectAgent(setup.service);
  const messageId = randomUUID();
  const asked = await agent.send(callAsk, { messageId });
  expect((await agent.send(callAsk, { messageId })).id).toBe(asked.id);
  await expect(agent.send('other words', { messageId })).rejects.toThrow(/messageId/);

  const answerId = randomUUID();
  const next = await agent.send('Lisbon', { taskId: asked.id, messageId: answerId });
  expect(wordsOf(next)).toContain('Which day?');
  const repeated = await agent.send('Lisbon', { taskId: asked.id, messageId: answerId });
  expect(wordsOf(repeated)).toContain('Which day?');
  expect(stateOf(await agent.send('Monday', { taskId: asked.id }))).toBe('COMPLETED');
});

test('several questions of one round are shown one after the other, and the rest counted', async () => {
  setup.server.play(
    asks({ city: form('Which city?', named), day: form('Which day?', { day: { type: 'string' } }) }),
  );
  const agent = await connectAgent(setup.service);
  const first = await agent.send(callAsk, { returnImmediately: false });
  const second = await agent.send('Lisbon', { taskId: first.id });
  expect(stateOf(second)).toBe('INPUT_REQUIRED');
  const done = await agent.send('Monday', { taskId: first.id });
  expect(stateOf(done)).toBe('COMPLETED');
});

test('an answer that names only its context is taken where one question is open, and once', async () => {
  setup.server.play(asks({ city: form('Which city?', named) }));
  const agent = await connectAgent(setup.service);
  const asked = await agent.send(callAsk);
  const messageId = randomUUID();
  const { contextId } = asked;
  const done = await agent.send('Lisbon', { contextId, messageId });
  expect([done.id, stateOf(done)]).toEqual([asked.id, 'COMPLETED']);
  expect((await agent.send('Lisbon', { contextId, messageId })).id).toBe(asked.id);
  const next = await agent.send('hello', { contextId });
  expect(next.id).not.toBe(asked.id);
});
