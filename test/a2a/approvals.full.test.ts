/** A caller of A2A may refuse for its user; it never approves. Callers with the extension see the whole question. */
import { expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { connectAgent, stateOf, wordsOf } from './a2a-client.ts';

const setup = useAskingService({ env: { ASKING_APPROVAL: 'always' } });
const input = { issue: 7, title: 'Old page' };
const call = `call asking__ask ${JSON.stringify(input)}`;

test('what would be sent is shown; a yes through the agent is none, and the person approves on our page', async () => {
  setup.server.play();
  const agent = await connectAgent(setup.service, { transport: 'JSONRPC' });
  const asked = await agent.send(call);
  expect(stateOf(asked)).toBe('AUTH_REQUIRED');
  expect(wordsOf(asked)).toContain('Old page');
  expect(wordsOf(asked)).toMatch(/\/auth\/answer\?e=/);
  for (const yes of ['yes', 'I approve', { action: 'accept' }])
    expect(stateOf(await agent.send(yes, { taskId: asked.id }))).toBe('AUTH_REQUIRED');
  expect(setup.server.calls).toEqual([]);

  const elicitationId = /answer\?e=([\w-]+)/.exec(wordsOf(asked))?.[1] ?? '';
  const answer = { conversationId: asked.contextId, elicitationId, action: 'accept' };
  expect((await setup.alice.answer(answer)).status).toBeLessThan(300);
  await expect.poll(async () => stateOf(await agent.get(asked.id))).toBe('COMPLETED');
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([input]);
});

test('“no” through the agent is a refusal', async () => {
  setup.server.play();
  const agent = await connectAgent(setup.service, { transport: 'JSONRPC' });
  const asked = await agent.send(call);
  const task = await agent.send('no', { taskId: asked.id });
  expect(stateOf(task)).toBe('COMPLETED');
  expect(setup.server.calls).toEqual([]);
});
