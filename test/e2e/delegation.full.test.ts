/** Everything killed with -9 while an agent works for another: both go on where they were, and nothing is done twice. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import type { ServiceProcess } from './processes.ts';
import { callsIn, expectOneStory, expectSameForNewcomer, failuresIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let service: ServiceProcess;

beforeAll(async () => {
  deployment = await createDeployment();
  service = await deployment.start('start');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const ran = (tool: string) => deployment.tracker.calls.filter((call) => call.tool === tool).length;
const delegating = { agentId: 'lead' };

async function killAndRestart(meanwhile = () => {}): Promise<void> {
  await service.kill('SIGKILL');
  meanwhile();
  service = await deployment.start('start');
}

test(
  'killed while the other agent waits for the user, who connects afterwards',
  { timeout: 120_000 },
  async () => {
    const alice = deployment.client('alice');
    const turn = say(alice, 'ask the editor to ask the researcher to list my open issues', delegating);
    const { url, context } = await turn.question();
    expect(context).toMatchObject({ agent: 'Researcher', path: ['editor', 'researcher'] });
    await killAndRestart();
    await connectAccount('alice', url);
    const view = await turn.end();
    expect(view.status).toBe('completed');
    expect(callsIn(view)).toEqual(['agent__editor: done']);
    expect(textOf(view)).toMatch(/^I was told: I was told: Here they are: #\d+ /);
    expect(ran('list_issues')).toBe(1);
    expectOneStory(turn);
    await expectSameForNewcomer(alice, turn);
  },
);

test(
  'killed while tools of two other agents run: one is repeated, the other is not',
  { timeout: 120_000 },
  async () => {
    const alice = deployment.client('alice');
    const listed = ran('list_issues');
    const { faults } = deployment.tracker;
    const listing = faults.hold('before');
    const list = say(alice, 'ask the researcher to list my open issues', delegating);
    await listing.arrived;
    const creating = faults.hold('after');
    const create = say(alice, 'ask the researcher to create an issue called Done already', delegating);
    await creating.arrived;
    await killAndRestart(() => creating.release());

    expect(textOf(await list.end())).toMatch(/^I was told: Here they are/);
    expect(ran('list_issues')).toBe(listed + 1);
    const view = await create.end();
    expect(view.status).toBe('completed');
    expect(failuresIn(view)).toEqual([]);
    expect(textOf(view)).toContain(
      'I was told: Tracker never answered, so I cannot tell whether it happened.',
    );
    expect(ran('create_issue')).toBe(1);
    for (const turn of [list, create]) expectOneStory(turn);
  },
);
