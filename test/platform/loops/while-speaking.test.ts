/** A turn whose workflow is ended from outside while a model speaks. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startDevelopmentServer } from '../../development-server.ts';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import { startService } from '../../service/service.ts';
import { idOf } from '../../workflows/waiting.ts';

test('the stream ends and says why, the model is left, and nothing is written after the end', async () => {
  await using stack = new AsyncDisposableStack();
  const temporal = await startDevelopmentServer();
  stack.defer(() => temporal.stop());
  const model = await createOpenAIServer({
    reply: (_, index) =>
      index === 0 ? { kind: 'hang', chunks: ['Half a '] } : { kind: 'text', chunks: ['Whole.'] },
  });
  stack.defer(() => model.stop());
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-speaking-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const config = path.join(folder, 'agents.yaml');
  await writeFile(
    config,
    `providers: { openai-compatible: { baseURL: '${model.baseURL}' } }
agents: { assistant: { model: 'openai-compatible:any' } }
`,
  );
  const service = await startService({ temporal, env: { INTERLUDE_CONFIG: config } });
  stack.defer(() => service.stop());
  const alice = await service.as('alice');

  const conversation = randomUUID();
  const stream = await alice.chat('hello', { conversation });
  await stream.until(({ type }) => type === 'text-delta');
  const workflowId = idOf({ conversation, stream });
  await temporal.client.workflow.getHandle(workflowId).terminate('by an operator');

  expect(await stream.finished()).toContainEqual(
    expect.objectContaining({ type: 'error', errorText: expect.stringContaining('ended from outside') }),
  );
  expect(await model.requests[0]?.ended).toBe('left');
  const next = await alice.chat('hello?', { conversation });
  await next.finished();
  expect(next.text()).toBe('Whole.');
  const turn = { tenant: 'demo', conversation, turnId: stream.turnId };
  const log = await service.storage.turnLog.read(turn, 0);
  const types = log.filter(({ turnId }) => turnId === turn.turnId).map(({ event }) => event.type);
  expect(types.slice(-2)).toEqual(['error', 'turn-ended']);
  expect(await service.storage.turns.get(turn)).toMatchObject({ status: 'failed' });
});
