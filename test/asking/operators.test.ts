/** What an operator does to a turn that waits, and how operators find it in Temporal. */
import { expect, test } from 'vitest';
import { callWaits, searchAttributes, turnWorkflowId } from '../../src/workflows/messages.ts';
import { callOf } from '../service/asking.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { delegatesOf, untilDelegatesWait, untilWaiting } from '../workflows/waiting.ts';
import { accept, city, useAskingService } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

const setup = useAskingService({ env: { AUTH_OPERATOR_CLAIM: 'sub', AUTH_OPERATOR_ROLE: 'bob' } });
const { begin, temporal } = setup;

async function byOperator(path: string) {
  const bob = await setup.service.as('bob');
  return bob.request('POST', `/run/v1/operators${path}`);
}

async function toldLater(conversation: string): Promise<string> {
  const messages = await setup.service.storage.messages.list({ tenant: 'demo', conversation });
  return JSON.stringify(messages.filter(({ role }) => role === 'tool'));
}

const handleOf = ({ conversation, stream: { turnId } }: AskedTurn) =>
  temporal.client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation, turnId }));

test('a question that an operator expires has expired for its user, its server and the model, and the turn goes on', async () => {
  const turn = await begin([asks({ one: form('One') }, 's')]);
  const { elicitationId } = await turn.question(0);
  await untilWaiting({ temporal }, turn);
  expect(await byOperator(`/questions/${elicitationId}/expire`)).toMatchObject({
    status: 200,
    body: { status: 'expired', changed: true },
  });
  expect(await turn.end()).toMatchObject({ text: expect.stringMatching(/^done\b/) });
  expect(turn.statuses()).toEqual(['expired']);
  expect(setup.server.calls[1]?.params).toMatchObject({ inputResponses: { one: { action: 'cancel' } } });
  expect(await toldLater(turn.conversation)).toContain('nobody answered before it expired');
  expect(await turn.answer(0, city())).toMatchObject({ status: 410, body: { code: 'expired' } });
});

test('of two questions the other one can still be answered', async () => {
  const turn = await begin([asks({ one: form('One'), two: form('Two') }, 's')]);
  const { elicitationId } = await turn.question(0);
  await turn.question(1);
  await byOperator(`/questions/${elicitationId}/expire`);
  await turn.answer(1, accept({ city: 'Rome' }));
  await turn.end();
  expect(turn.statuses().toSorted()).toEqual(['accept', 'expired']);
});

test('a turn that an operator cancels ends as cancelled, and its server is not called again', async () => {
  const turn = await begin([asks({ one: form('One') }, 's')]);
  await turn.question(0);
  const { turnId } = turn.stream;
  expect(await byOperator(`/turns/${turnId}/cancel`)).toMatchObject({
    status: 200,
    body: { status: 'cancelling' },
  });
  const chunks = await turn.stream.finished();
  expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
  expect(turn.statuses()).toEqual(['cancel']);
  expect(setup.server.calls).toHaveLength(1);
  await handleOf(turn).result();
  const { typedSearchAttributes } = await handleOf(turn).describe();
  expect(typedSearchAttributes.get(searchAttributes.status)).toBe('cancelled');
});

test('the timer of a wait says for whom and who asks', async () => {
  const turn = await begin([asks({ one: form('One') }, 's')]);
  await turn.question(0);
  await untilWaiting({ temporal }, turn);
  const { events } = await handleOf(turn).fetchHistory();
  const summaries = (events ?? []).flatMap(({ timerStartedEventAttributes: timer, userMetadata }) =>
    timer && userMetadata?.summary?.data
      ? [JSON.parse(Buffer.from(userMetadata.summary.data).toString())]
      : [],
  );
  expect(summaries).toEqual(['waits for alice: Asking asks']);
  await setup.alice.cancel(turn.conversation);
  await turn.stream.finished();
});

test('more names than a search attribute takes do not stop a turn', async () => {
  const turn = await begin([asks({ one: form('One') }, 's')]);
  const { context } = await turn.question(0);
  await untilWaiting({ temporal }, turn);
  const questions = Array.from({ length: 50 }, (_, number) => ({
    elicitationId: `other-${number}`,
    remainingMs: 60_000,
    mode: 'form' as const,
    askedBy: `server ${number} `.padEnd(200, 'x'),
  }));
  await handleOf(turn).signal(callWaits, { toolCallId: String(context['toolCallId']), questions });
  const names = async () =>
    (await handleOf(turn).describe()).typedSearchAttributes.get(searchAttributes.waitsFor);
  await expect.poll(names).toContain(questions[0]?.askedBy);
  await turn.answer(0, city());
  expect(await turn.end()).toMatchObject({ text: expect.stringMatching(/^done\b/) });
});

test('a search for what a delegate waits for leads to the root turn', async () => {
  const turn = await begin([asks({ one: form('One') }, 's')], {
    text: `call agent__assistant ${JSON.stringify({ task: callOf(['ask']) })}`,
    agentId: 'lead',
  });
  await turn.question(0);
  const used = { temporal, service: setup.service };
  const [delegate = ''] = await untilDelegatesWait(used, turn, 'assistant', 1);
  expect(await delegatesOf(used, turn, 'assistant')).toEqual([delegate]);
  const { turnId } = turn.stream;
  const found = async (query: string) => {
    const ids: string[] = [];
    for await (const { workflowId } of temporal.client.workflow.list({ query })) ids.push(workflowId);
    return ids.toSorted();
  };
  const root = handleOf(turn).workflowId;
  await expect
    .poll(() => found(`InterludeRootTurn = '${turnId}' AND InterludeWaitsFor = 'asking'`))
    .toEqual([delegate]);
  expect(await found(`InterludeRootTurn = '${turnId}'`)).toEqual([root, delegate].toSorted());
  await turn.answer(0, city());
  await turn.end();
  await handleOf(turn).result();
  // A turn that has completed does not say that it runs.
  await expect
    .poll(() => found(`InterludeRootTurn = '${turnId}' AND InterludeTurnStatus IS NOT NULL`))
    .toEqual([]);
});
