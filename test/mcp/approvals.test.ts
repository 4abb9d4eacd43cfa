/** A model cannot approve what a model wants to do: behind every kind of client, the user approves on our page, signed in. */
import { expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { createApiKey } from '../../src/service/api-keys.ts';
import { connectClient, pageIn, rawRequest } from './mcp-client.ts';

const setup = useAskingService({
  env: { ASKING_APPROVAL: 'destructive' },
  annotations: { destructiveHint: true },
});
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {"issue":7}' } };

test.each([
  ['sendElicitationResult', 'elicitId'],
  ['answer_question', 'elicitationId'],
])('%s takes a refusal, and no approval', async (name, idName) => {
  await using client = await connectClient(setup.service);
  const callsBefore = setup.server.calls.length;
  const asked = await client.callTool(callAsk);
  expect(asked.content).toMatchObject([
    { text: expect.stringContaining('You cannot approve this for the user') },
  ]);
  const { elicitId } = (asked._meta ?? {})['elicitationPending'] as { elicitId: string };
  const { turnId } = asked.structuredContent as { turnId: string };
  const answer = (action: string) => client.callTool({ name, arguments: { [idName]: elicitId, action } });
  expect((await answer('accept')).content).toMatchObject([
    { text: expect.stringContaining('Please answer again: You cannot approve') },
  ]);
  expect(await setup.service.storage.elicitations.get(elicitId)).toMatchObject({ status: 'pending' });
  await answer('decline');
  await client.callTool({
    name: 'wait_for_turn',
    arguments: { turnId },
  });
  expect(await setup.service.storage.elicitations.get(elicitId)).toMatchObject({ status: 'decline' });
  expect(setup.server.calls).toHaveLength(callsBefore);
});

test('a client that shows links is given one to our page, and the call is made once its user has approved there', async () => {
  await using client = await connectClient(setup.service, {
    capabilities: { elicitation: { form: {}, url: {} } },
  });
  const callsBefore = setup.server.calls.length;
  const seen: object[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    seen.push(params);
    const elicitationId = pageIn(params);
    const row = await setup.service.storage.elicitations.get(elicitationId);
    expect(row).toMatchObject({ status: 'pending' });
    const { conversation: conversationId = '' } = row ?? {};
    // What the person does on the page; the client itself can only agree to open it.
    await setup.alice.answer({ conversationId, elicitationId, action: 'accept' });
    return { action: 'accept', content: {} };
  });
  expect(await client.callTool(callAsk)).toMatchObject({ structuredContent: { status: 'completed' } });
  expect(seen).toMatchObject([{ mode: 'url', message: expect.stringContaining('"issue": 7') }]);
  expect(setup.server.calls).toHaveLength(callsBefore + 1);
});

test('a client that shows forms alone, or sends an answer unasked, approves nothing', async () => {
  await using client = await connectClient(setup.service, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  const callsBefore = setup.server.calls.length;
  const asked = await client.callTool(callAsk);
  expect(asked).toMatchObject({ structuredContent: { status: 'input_required' } });
  const { elicitId } = (asked._meta ?? {})['elicitationPending'] as { elicitId: string };
  expect(JSON.stringify(asked)).toContain(`/auth/answer?e=${elicitId}`);

  const { turnId } = asked.structuredContent as { turnId: string };
  const keepsTasks = {
    elicitation: { form: {}, url: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  };
  const inputResponses = { [elicitId]: { action: 'accept', content: {} } };
  await rawRequest(setup.service, 'tasks/update', { taskId: turnId, inputResponses }, keepsTasks);
  expect(await setup.service.storage.elicitations.get(elicitId)).toMatchObject({ status: 'pending' });
  expect(setup.server.calls).toHaveLength(callsBefore);
  await client.callTool({
    name: 'answer_question',
    arguments: { elicitationId: elicitId, action: 'decline' },
  });
});

test('a key that may approve for users approves nothing here', async () => {
  const { storage } = setup.service;
  const rights = { actsForUsers: true, approvesForUsers: true };
  const key = await createApiKey(storage, 'demo', null, rights);
  const own = { ...setup.service, token: () => Promise.resolve(key) };
  await using client = await connectClient(own, { headers: { 'x-interlude-user': 'alice' } });
  const callsBefore = setup.server.calls.length;
  const asked = await client.callTool(callAsk);
  const { elicitId } = (asked._meta ?? {})['elicitationPending'] as { elicitId: string };
  for (const [name, id] of [
    ['sendElicitationResult', 'elicitId'],
    ['answer_question', 'elicitationId'],
  ] as const)
    await client.callTool({ name, arguments: { [id]: elicitId, action: 'accept' } });
  expect(await storage.elicitations.get(elicitId)).toMatchObject({ status: 'pending' });
  expect(setup.server.calls).toHaveLength(callsBefore);
  await client.callTool({
    name: 'answer_question',
    arguments: { elicitationId: elicitId, action: 'decline' },
  });
});
