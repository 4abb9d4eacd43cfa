/** Whoever may signal a workflow can send it anything. Whatever that is, the turn goes on as if nothing had come. */
import { randomUUID } from 'node:crypto';
import type { QueryDefinition, SignalDefinition } from '@temporalio/common';
import { beforeEach, describe, expect, test } from 'vitest';
import * as messages from '../../src/workflows/messages.ts';
import { turnNews, turnWorkflowId } from '../../src/workflows/messages.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const { temporal, service, alice } = useService({ per: 'test' });
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});

const handle = () => temporal.client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
const namesOf = (kind: (SignalDefinition | QueryDefinition<unknown>)['type']) =>
  Object.values<unknown>(messages).flatMap((value) =>
    typeof value === 'object' && value && 'type' in value && value.type === kind && 'name' in value
      ? [String(value.name)]
      : [],
  );

interface Ids {
  elicitationId: string;
  toolCallId: string;
}

/** What would have an effect, so that what is nearly right is tried as well. */
const sensible: Record<string, (ids: Ids) => Record<string, unknown>> = {
  answerElicitation: ({ elicitationId }) => ({
    elicitationId,
    responseId: 'response',
    action: 'decline',
    user: 'alice',
  }),
  connectionEstablished: () => ({ server: 'tracker', version: 1000 }),
  supersede: () => ({ until: 4_000_000_000_000 }),
  delegatePhase: ({ toolCallId }) => ({ toolCallId, phase: 'working' }),
  accountWanted: ({ toolCallId }) => ({ toolCallId, server: 'tracker' }),
  accountVerdict: () => ({ server: 'tracker', verdict: 'decline' }),
  accountConcluded: ({ toolCallId }) => ({ toolCallId, server: 'tracker', result: 'decline' }),
  serverAsks: ({ toolCallId, elicitationId }) => ({
    toolCallId,
    round: 1,
    questions: [{ elicitationId, mode: 'form' }],
  }),
  serverNews: ({ elicitationId }) => ({ elicitationIds: [elicitationId], news: 'server_gone' }),
};

const shapes = [null, false, 7, 'word', [], [null], {}, { a: { b: 1 } }];

/** No argument, any wrong shape, too little, and one thing wrong at a time. */
function rubbish(right: Record<string, unknown>): unknown[][] {
  const names = Object.keys(right);
  const without = names.map((name) => ({ ...right, [name]: undefined }));
  const spoilt = names.flatMap((name) =>
    shapes
      .filter((shape) => typeof shape !== typeof right[name] || Array.isArray(shape))
      .map((shape) => ({ ...right, [name]: shape }))
      // No questions at all is a sensible thing to say.
      .filter((message) => JSON.stringify(Object.values(message)).includes('[]') === false),
  );
  return [[], ...[...shapes, ...without, ...spoilt].map((message) => [message])];
}

async function sendEverything(ids: Ids): Promise<void> {
  for (const [name, right] of Object.entries(sensible))
    await Promise.all(rubbish(right(ids)).map((args) => handle().signal(name, ...args)));
  for (const name of namesOf('query'))
    for (const args of [[], ...shapes.map((shape) => [shape])]) await handle().query(name, ...args);
}

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
    await sendEverything({ elicitationId, ...(await idsIn()) });
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
    await sendEverything({ elicitationId: 'none', ...(await idsIn()) });
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
    await sendEverything({ elicitationId: 'none', toolCallId: task[0] ?? '' });
    expect(await handle().query('turn')).toMatchObject({ phase: 'waiting' });
    await connectAccount('alice', url);
    await stream.finished();
    expect(stream.text()).toContain('Here they are');
  });
});
