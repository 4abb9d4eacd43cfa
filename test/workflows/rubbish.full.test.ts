/** Anyone who may signal a workflow can send it anything: the turn goes on as if nothing had come. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  agentTurnWorkflow,
  pushWorkflow,
  questionsSettled,
  slackDeliveryWorkflow,
  turnNews,
} from '../../src/workflows/messages.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import { payloads, sendRubbish, sensible, signals } from './rubbish.ts';
import { idOf, isWaiting, untilDelegatesWait, untilWaiting } from './waiting.ts';

const { temporal, service, alice } = useService({ per: 'test' });
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});

const handle = (stream: ChatStream) => temporal.client.workflow.getHandle(idOf({ conversation, stream }));
const idsIn = async () => {
  const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  const call = log.map(({ event }) => event).findLast(({ type }) => type === 'tool-input-available');
  return { toolCallId: call?.type === 'tool-input-available' ? call.toolCallId : '' };
};

test('every signal that a turn listens to is among those that are tried', () => {
  // One is for deliveries of notifications and of answers: they read nothing in it.
  const ofTurns = signals.filter((name) => name !== turnNews.name);
  expect(ofTurns.toSorted()).toEqual(Object.keys(sensible).toSorted());
});

describe('malformed signals do not affect', () => {
  test('a turn that waits for a person', async () => {
    const stream = await alice.chat('list my open issues', { conversation });
    const { elicitationId, url } = await stream.question('pending');
    await untilWaiting({ temporal }, { conversation, stream });
    await sendRubbish(handle(stream), { elicitationId, ...(await idsIn()) });
    expect(await activitiesOf(stream, 'callTool')).toBe(1);
    expect(await isWaiting({ temporal }, idOf({ conversation, stream }))).toBe(true);
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
    await sendRubbish(handle(stream), { elicitationId: 'none', ...(await idsIn()) });
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
    await untilDelegatesWait({ temporal, service }, { conversation, stream }, 'researcher', 1);
    const log = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
    const task = log.flatMap(({ event }) =>
      event.type === 'tool-input-available' && event.agent ? [event.toolCallId] : [],
    );
    await sendRubbish(handle(stream), { elicitationId: 'none', toolCallId: task[0] ?? '' });
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

test('a forged hint about an open question costs one look at its row, and the turn waits again', async () => {
  const stream = await alice.chat('list my open issues', { conversation });
  const { elicitationId, url } = await stream.question('pending');
  await untilWaiting({ temporal }, { conversation, stream });
  const hint = { elicitationIds: [elicitationId, ...Array.from({ length: 2_000 }, (_, n) => `none-${n}`)] };
  await handle(stream).signal(questionsSettled, hint);
  await expect.poll(() => activitiesOf(stream, 'callTool')).toBe(2);
  await untilWaiting({ temporal }, { conversation, stream });
  expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  await connectAccount('alice', url);
  await stream.finished();
  expect(stream.text()).toContain('Here they are');
});

async function activitiesOf(stream: ChatStream, name: string): Promise<number> {
  const { events } = await handle(stream).fetchHistory();
  const names = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  return names?.filter((one) => one === name).length ?? 0;
}

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
  return (await handle(stream).describe()).taskQueue;
}
