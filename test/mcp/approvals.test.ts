/** A model cannot approve what a model wants to do: approvals are taken from clients that ask their user. */
import { expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { connectClient } from './mcp-client.ts';

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

test('a client that shows forms asks its user, and the approved call is made', async () => {
  await using client = await connectClient(setup.service, {
    capabilities: { elicitation: { form: {}, url: {} } },
  });
  const callsBefore = setup.server.calls.length;
  const seen: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    seen.push(params.message);
    return { action: 'accept', content: {} };
  });
  expect(await client.callTool(callAsk)).toMatchObject({ structuredContent: { status: 'completed' } });
  expect(seen).toEqual([expect.stringContaining('"issue": 7')]);
  expect(setup.server.calls).toHaveLength(callsBefore + 1);
});
