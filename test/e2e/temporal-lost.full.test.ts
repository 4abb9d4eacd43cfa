/** Temporal's own data is lost, and with it every workflow, while the service keeps its database. */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import { questionsIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await createDeployment();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

test(
  'a turn that asked ends and says why, its question is closed, and the conversation goes on',
  { timeout: 240_000 },
  async () => {
    const first = await deployment.start('start');
    const alice = deployment.client('alice');
    const turn = say(alice, 'list my open issues');
    const { url, elicitationId } = await turn.question();
    const { conversationId } = turn.message;

    await first.kill('SIGKILL');
    for (const end of ['', '-wal', '-shm'])
      await rm(`${deployment.dataDir}/interlude/temporal.db${end}`, { force: end !== '' });
    await deployment.start('start');

    // Its workflow has to be missing twice, 90 seconds apart.
    const end = await turn.end(180_000);
    expect(end.status).toBe('failed');
    expect(questionsIn(end)).toMatchObject([{ elicitationId, status: 'cancel' }]);
    expect(await alice.openElicitations(conversationId)).toEqual([]);
    const caller = await deployment.caller('alice');
    expect(await caller.answer({ conversationId, elicitationId, action: 'accept' })).toMatchObject({
      status: 410,
      body: { code: 'turn_over' },
    });
    await connectAccount('alice', url).catch(() => undefined);
    expect(deployment.tracker.calls).toEqual([]);

    const next = say(alice, 'hello', { conversationId });
    expect(textOf(await next.end())).toBe('You said: hello');
  },
);
