/** Ten minutes of polling for an account that is not connected. A file and a clock of its own, as for any deadline. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServiceWithNango } from '../connections/service-with-nango.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { untilWaiting } from './waiting.ts';

let environment: TestWorkflowEnvironment;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());

test('an account that is not connected for ten minutes: its question expires, and polling left no trail in history', async () => {
  const temporal = temporalOf(environment);
  await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
  const waiting = await setup.ask('Too late');
  const { stream, conversation, question } = waiting;
  await untilWaiting({ temporal: environment }, waiting);
  const before = await setup.historyLength(conversation);
  await environment.sleep('9 minutes');
  expect(await setup.historyLength(conversation)).toBe(before);
  expect(await setup.service.storage.elicitations.get(question.elicitationId)).toMatchObject({
    status: 'pending',
  });
  await environment.sleep('61 seconds');
  await stream.question('expired');
  await stream.finished();
  expect(setup.mcp.calls).toEqual([]);
});
