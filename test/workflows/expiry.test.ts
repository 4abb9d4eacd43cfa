/** A question and its ten minutes. A file and a clock of its own: nothing but these tests moves the time. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { untilDelegatesWait, untilWaiting } from './waiting.ts';

let environment: TestWorkflowEnvironment;
let service: Service;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
beforeEach(async () => {
  service = await startService({
    temporal: temporalOf(environment),
  });
});
afterEach(() => service.stop());

test('a question that is not answered for ten minutes expires, and the model is told', async () => {
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation });
  const { expiresAt, elicitationId } = await stream.question('pending');
  expect(Date.parse(expiresAt) - (await environment.currentTimeMs())).toBeGreaterThan(9 * 60_000);
  await untilWaiting({ temporal: environment }, { conversation, stream });
  await environment.sleep('9 minutes');
  expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  await environment.sleep('61 seconds');
  await stream.question('expired');
  const errors = (await stream.finished()).filter(({ type }) => type === 'tool-output-error');
  expect(errors[0]?.['errorText']).toContain('nobody answered before the question expired');
  expect(service.tracker.requests).toBe(0);
});

test('a delegate’s delegate’s question expires for all agents that wait for it', async () => {
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const calls = [
    'call agent__publisher {"task":"call agent__editor {\\"task\\":\\"ask the researcher to list my open issues\\"}"}',
    'call agent__researcher {"task":"list my closed issues"}',
  ];
  const stream = await alice.chat(calls.join('\n'), { conversation, agentId: 'lead' });
  await stream.question('pending');
  await untilDelegatesWait({ temporal: environment, service }, { conversation, stream }, 'researcher', 2);
  await environment.sleep('11 minutes');
  await stream.question('expired');
  const chunks = await stream.finished();
  expect(chunks.filter(({ type }) => type === 'data-elicitation-request')).toHaveLength(2);
  expect(stream.text().match(/nobody answered|Tracker/g)?.length).toBeGreaterThanOrEqual(2);
  expect(service.tracker.requests).toBe(0);
});

test('an answer after the deadline is refused as too late', async () => {
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation });
  const { elicitationId } = await stream.question('pending');
  await untilWaiting({ temporal: environment }, { conversation, stream });
  await environment.sleep('11 minutes');
  await stream.question('expired');
  const late = await alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
  expect(late).toMatchObject({ status: 410, body: { code: 'expired' } });
});
