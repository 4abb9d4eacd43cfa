/** Whoever may signal a workflow can send it anything. Whatever that is, the turn goes on as if nothing had come. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  agentTurnWorkflow,
  pushWorkflow,
  slackDeliveryWorkflow,
  turnNews,
  turnWorkflowId,
} from '../../src/workflows/messages.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import { namesOf, payloads, sendRubbish, sensible } from './rubbish.ts';

const { temporal, service, alice } = useService({ per: 'test' });
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});

const handle = () => temporal.client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
const idsIn = async () => {
  const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  const call = log.map(({ event }) => event).findLast(({ type }) => type === 'tool-input-available');
  return { toolCallId: call?.type === 'tool-input-available' ? call.toolCallId : '' };
};

test('every signal that a turn listens to is among those that are tried', () => {
  // One is for deliveries of notifications and of answers: they read nothing in it.
  const ofTurns = namesOf('signal').filter((name) => name !== turnNews.name);
  expect(ofTurns.toSorted()).toEqual(Object.keys(sensible).toSorted());
  expect(namesOf('query')).toContain('turn');
});

describe('rubbish at every signal and query leaves alone', () => {
  test('a turn that waits for a person', async () => {
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId, url } = await stream.question('pending');
    await expect.poll(() => handle().query('turn')).toMatchObject({ phase: 'waiting' });
    await sendRubbish(handle(), { elicitationId, ...(await idsIn()) });
    expect(await handle().query('turn')).toMatchObject({ phase: 'waiting' });
    expect(await handle().query('elicitation', elicitationId)).toMatchObject({ state: { kind: 'pending' } });
    await connectAccount('alice', url);
    await stream.finished();
    expect(stream.text()).toContain('Here they are');
  });

  test('a turn whose tool runs', async () => {
    const first = await alice.chat('list my open issues', { conversation });
    await connectAccount('alice', (await first.question('pending')).url);
    await first.finished();
    const held = service.tracker.faults.hold('before');
    const stream = await alice.chat('list my open issues', { conversation });
    await held.arrived;
    await sendRubbish(handle(), { elicitationId: 'none', ...(await idsIn()) });
    expect(await handle().query('turn')).toMatchObject({ phase: 'working' });
    held.release();
    await stream.finished();
    expect(stream.text()).toContain('Here they are');
  });

  test('a turn that another agent works for', async () => {
    const stream = await alice.chat('ask the researcher to list my open issues', {
      conversation,
      agentId: 'lead',
    });
    const { url } = await stream.question('pending');
    await expect.poll(() => handle().query('turn')).toMatchObject({ phase: 'waiting' });
    const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
    const task = log.flatMap(({ event }) =>
      event.type === 'tool-input-available' && event.agent ? [event.toolCallId] : [],
    );
    await sendRubbish(handle(), { elicitationId: 'none', toolCallId: task[0] ?? '' });
    expect(await handle().query('turn')).toMatchObject({ phase: 'waiting' });
    await connectAccount('alice', url);
    await stream.finished();
    expect(stream.text()).toContain('Here they are');
  });

  test.each([
    [pushWorkflow, { deliveryId: 'none', position: null }, 'removed'],
    [slackDeliveryWorkflow, { turnId: 'none', position: 0 }, 'given-up'],
  ])('%s, where it comes with the start and cannot be read', async (workflow, input, status) => {
    const taskQueue = await queueOfTurns();
    const args = [{ ...input, deadlineMs: 1, failingSince: null }];
    const signal = turnNews.name;
    const ends = payloads.map(async (payload) => {
      const options = { workflowId: randomUUID(), taskQueue, args, signal, signalArgs: [payload] };
      return (await temporal.client.workflow.signalWithStart(workflow, options)).result();
    });
    expect(await Promise.all(ends)).toEqual(payloads.map(() => ({ status })));
  });
});

test.each([agentTurnWorkflow, pushWorkflow, slackDeliveryWorkflow])(
  '%s does not begin with an input that cannot be read',
  async (workflow) => {
    const options = { workflowId: randomUUID(), taskQueue: await queueOfTurns(), args: [payloads[0]] };
    const started = await temporal.client.workflow.start(workflow, options);
    const events = async () => (await started.fetchHistory()).events ?? [];
    const failed = async () => (await events()).some((event) => event.workflowTaskFailedEventAttributes);
    await expect.poll(failed).toBe(true);
    expect((await started.describe()).status.name).toBe('RUNNING');
    await started.terminate();
  },
);

async function queueOfTurns(): Promise<string> {
  const stream = await alice.chat('hello', { conversation });
  await stream.finished();
  return (await handle().describe()).taskQueue;
}
