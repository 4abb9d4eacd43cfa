/** What time does to an approval. Nothing but this test moves the clock. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { accept, asTurn, roundsAgents } from './asking-service.ts';
import { untilWaiting } from '../workflows/waiting.ts';

test('an approval that nobody gives in time sends nothing, and one that comes later is too late', async () => {
  await using stack = new AsyncDisposableStack();
  const environment = await createTimeSkipping();
  stack.defer(() => environment.teardown());
  const server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  const service = await startAsking({
    temporal: temporalOf(environment),
    url: server.url,
    env: { INTERLUDE_CONFIG: roundsAgents, ASKING_APPROVAL: 'always' },
  });
  stack.defer(() => service.stop());
  server.play();
  const alice = await service.as('alice');
  const turn = await asTurn(alice, randomUUID(), (conversation) =>
    alice.chat(callOf(['ask', { issue: 7 }]), { conversation }),
  );
  await turn.question(0);
  await untilWaiting({ temporal: environment }, turn);
  await environment.sleep('601 seconds');
  expect((await turn.end()).error).toContain('nobody answered before the question expired. Nothing was sent');
  expect(turn.statuses()).toEqual(['expired']);
  expect((await turn.answer(0, accept())).status).toBe(410);
  expect(server.calls).toEqual([]);
});
