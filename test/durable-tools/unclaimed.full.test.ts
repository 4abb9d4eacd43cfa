/** Calls of tools in TypeScript whose code no worker has: they are withdrawn after a minute, and nothing is left of them. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { offerTools } from '../../src/platform/processes/start-worker.ts';
import { createTurnWorker } from '../../src/platform/processes/workers/turn-workers.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { useService } from '../service/use-service.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { bundleTools } from './bundle-tools.ts';

const bundle = await bundleTools();
const used = useService({
  async startWorkers(parts, stack) {
    const offeredTools = offerTools(new Map([['assistant', { bundle }]]));
    const own = { ...parts, offeredTools, heldCallLimit: createHeldCallLimit(1) };
    const worker = await createTurnWorker(own, used.temporal.connection, {
      workflowBundle: await workflowBundle(),
    });
    const running = worker.run();
    stack.defer(async () => {
      worker.shutdown();
      await running;
    });
  },
});

const start = async (words: string) => {
  const conversation = randomUUID();
  return { conversation, stream: await used.alice.chat(words, { conversation }) };
};

async function workflowsOf(conversation: string) {
  const [entry] = await used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0, 1);
  const id = turnWorkflowId({ tenant: 'demo', conversation, turnId: entry?.turnId ?? '' });
  return used.temporal.client.workflow.count(
    `WorkflowId STARTS_WITH '${id}' AND ExecutionStatus = 'Running'`,
  );
}

test.concurrent.for(['call jot {"line":"Home"}', 'call greet {"name":"Ada"}'])(
  '%s: the model reads that it did not run',
  { timeout: 120_000 },
  async (words, { expect }) => {
    const { conversation, stream } = await start(words);
    await stream.finished();
    expect(stream.text()).toContain('because of a problem on our side');
    const errors = stream.chunks.flatMap(({ type, errorText }) =>
      type === 'tool-output-error' ? [errorText] : [],
    );
    expect(errors).toEqual([expect.stringContaining('The tool did not run.')]);
    await expect.poll(async () => (await workflowsOf(conversation)).count).toBe(0);
    expect(await used.service.storage.toolCalls.codeInUse()).toEqual(new Map());
  },
);

test('a call that waits for a worker ends at once with its turn', async () => {
  const { conversation, stream } = await start('call jot {"line":"Home"}');
  await stream.until(({ type }) => type === 'tool-input-available');
  await used.alice.cancel(conversation);
  expect((await stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
  await expect.poll(async () => (await workflowsOf(conversation)).count).toBe(0);
});
