/** Answers to a delegated agent that has agreed to end for a new message, before the turn's own agent has decided. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { supersede, turnWorkflowId } from '../../src/workflows/messages.ts';
import { useService } from '../service/use-service.ts';

const used = useService();

/** The agent agrees, because its own workflow is asked; nobody has asked the turn's own agent. */
async function agreed() {
  const conversation = randomUUID();
  const stream = await used.alice.chat('ask the researcher to list my open issues', {
    conversation,
    agentId: 'lead',
  });
  const { elicitationId } = await stream.question('pending');
  const rowOf = async () => used.service.storage.elicitations.get(elicitationId);
  const workflows = used.temporal.client.workflow;
  const delegate = workflows.getHandle((await rowOf())?.workflowId ?? '');
  const turn = workflows.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
  await expect.poll(() => turn.query('turn')).toMatchObject({ phase: 'waiting' });
  const until = Date.now() + 60_000;
  await delegate.signal(supersede, { until });
  await expect.poll(() => delegate.query('turn')).toMatchObject({ phase: 'ending' });
  const answer = () => used.alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
  const statusOf = async () =>
    (await used.service.storage.turns.get({ tenant: 'demo', conversation, turnId: stream.turnId }))?.status;
  return { stream, delegate, turn, until, answer, rowOf, statusOf };
}

test('are kept, and count when the turn goes on', async () => {
  const { stream, delegate, until, answer, rowOf, statusOf } = await agreed();
  expect(await answer()).toMatchObject({ status: 202 });
  expect(await rowOf()).toMatchObject({ status: 'pending' });
  // What is said of another message changes nothing.
  await delegate.signal(supersede, { until: 0, withdrawn: until - 1 });
  expect(await answer()).toMatchObject({ status: 202 });
  await delegate.signal(supersede, { until: 0, withdrawn: until });
  await stream.finished();
  expect(await rowOf()).toMatchObject({ status: 'decline' });
  expect(await statusOf()).toBe('completed');
  expect(stream.text()).toContain('Tracker');
});

test('do not count when the turn ends, and whoever gave one hears that', async () => {
  const { stream, delegate, answer, turn, rowOf } = await agreed();
  const answered = answer();
  const signals = async () =>
    (await delegate.fetchHistory()).events?.map(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName,
    );
  await expect.poll(signals).toContain('answerElicitation');
  await turn.cancel();
  expect(await answered).toMatchObject({ status: 410, body: { code: 'turn_over' } });
  await stream.finished();
  expect(await rowOf()).toMatchObject({ status: 'cancel' });
});
