/** Ten minutes of looking for an account that nobody connects. A file and a clock of its own, as for any deadline. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { turnQuery, turnWorkflowId } from '../../src/workflows/messages.ts';
import { startServiceWithNango } from '../connections/service-with-nango.ts';
import { createTimeSkipping } from '../time-skipping.ts';

let environment: TestWorkflowEnvironment;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());

test('nobody connects for ten minutes: the question expires, and looking has left no trail in history', async () => {
  const { client, nativeConnection: connection } = environment;
  await using setup = await startServiceWithNango({ temporal: { client, connection }, hasWebhooks: false });
  const { stream, conversation, question } = await setup.ask('Too late');
  const handle = client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
  expect(await handle.query(turnQuery)).toMatchObject({ phase: 'waiting' });
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
