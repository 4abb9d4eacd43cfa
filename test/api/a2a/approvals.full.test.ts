/** A caller of A2A may refuse for its user; it never approves, with the extension or without it. */
import { expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { connectAgent, elicitationExtension, stateOf, wordsOf } from './a2a-client.ts';

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

test.each([
  ['without the extension', false],
  ['with the extension', true],
])('%s, an approval that a program sends does not count, once or permanently', async (_, extension) => {
  setup.server.play();
  const agent = await connectAgent(setup.service, { transport: 'JSONRPC', extension });
  const asked = await agent.send(call);
  expect(stateOf(asked)).toBe('AUTH_REQUIRED');
  const elicitationId = asked.status?.message?.messageId ?? '';
  for (const more of [{}, { remember: 'conversation' }, { remember: 'always' }]) {
    const answer = { elicitationId, action: 'accept', ...more };
    for (const said of [{}, { metadata: { [elicitationExtension]: answer } }]) {
      const task = await agent.send(answer, { taskId: asked.id, ...said });
      expect(stateOf(task)).toBe('AUTH_REQUIRED');
      expect(wordsOf(task)).toContain(`/auth/answer?e=${elicitationId}`);
    }
  }
  expect(await setup.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  expect(setup.server.calls).toEqual([]);
  expect(await setup.service.storage.approvals.list({ tenant: 'demo', user: 'alice' })).toEqual([]);
  const refused = { elicitationId, action: 'decline', reason: 'Still needed.' };
  expect(stateOf(await agent.send(extension ? refused : 'no', { taskId: asked.id }))).toBe('COMPLETED');
});

test('a program that knows the extension is given the approval as a link, with the arguments', async () => {
  setup.server.play();
  const agent = await connectAgent(setup.service, { transport: 'JSONRPC', extension: true });
  const asked = await agent.send(call);
  const { metadata } = asked.status?.message ?? {};
  expect(metadata?.[elicitationExtension]).toMatchObject({
    mode: 'url',
    url: expect.stringContaining('/auth/answer?e='),
    context: { trigger: 'approval', arguments: expect.stringContaining('Old page') },
  });
  await agent.send('no', { taskId: asked.id });
});

test('“no” through the agent is a refusal', async () => {
  setup.server.play();
  const agent = await connectAgent(setup.service, { transport: 'JSONRPC' });
  const asked = await agent.send(call);
  const task = await agent.send('no', { taskId: asked.id });
  expect(stateOf(task)).toBe('COMPLETED');
  expect(setup.server.calls).toEqual([]);
});
