/** The service is killed with -9 while many turns are at work at once. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';
import { expectOneStory, expectSameForNewcomer, say, textOf } from './watch.ts';

let deployment: Deployment;
let service: ServiceProcess;
beforeAll(async () => {
  deployment = await createDeployment();
  service = await deployment.start('start');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

test(
  'killed while a dozen turns are at it: each goes on as the turn it was, and nothing is done twice',
  { timeout: 120_000 },
  async () => {
    const alice = deployment.client('alice');
    const first = say(alice, 'list my open issues');
    await connectAccount('alice', (await first.question()).url);
    await first.end();
    // Of its own: another try must not find what this one did.
    const dozen = randomUUID();
    const titles = Array.from({ length: 12 }, (_, index) => `Dozen ${dozen} ${index}`);
    const turns = titles.map((title) => say(alice, `create an issue called ${title}`));
    await Promise.race(turns.map((turn) => turn.end()));
    await service.kill('SIGKILL');
    service = await deployment.start('start');

    const views = await Promise.all(turns.map((turn) => turn.end()));
    const created = deployment.tracker.issues.list({ state: 'all', assignee: null });
    for (const [index, view] of views.entries()) {
      const times = created.filter(({ title }) => title === titles[index]).length;
      expect(view.status).toBe('completed');
      const said = textOf(view);
      expect(said).toMatch(/^Created\.$|I cannot tell whether it happened/);
      expect(said === 'Created.' ? [1] : [0, 1]).toContain(times);
    }
    for (const turn of turns) {
      expect(new Set(turn.views.map(({ turnId }) => turnId)).size).toBe(1);
      expectOneStory(turn);
      await expectSameForNewcomer(alice, turn);
    }
  },
);
