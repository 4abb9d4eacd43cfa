/** Changed code is deployed while the question of an MCP client is open, in each era and way of asking. */
import { expect, test } from 'vitest';
import {
  alice,
  service,
  startVersion,
  temporal,
  useVersionedWorkers,
} from '../platform/processes/versioned-workers.ts';
import type { StartClient } from './clients/other-client.ts';
import { startSdkV1, startSdkV2 } from './clients/typescript-clients.ts';
import { workflowOf } from '../service/workflow-of.ts';

useVersionedWorkers();

const all = { form: true, url: true } as const;
const ways: { way: string; start: StartClient; shows: object }[] = [
  { way: 'asked by the result', start: (setting) => startSdkV2('auto', setting), shows: all },
  { way: 'asked on the stream', start: startSdkV1, shows: all },
  { way: 'asked in words', start: (setting) => startSdkV2('auto', setting), shows: {} },
];

/** Where the newest question of Alice waits, and whether its turn runs the changed code. */
async function waitsIn() {
  const { body } = await alice.request('GET', '/run/v1/elicitations');
  const [{ conversationId }] = body['items'] as [{ conversationId: string }];
  const handle = temporal.client.workflow.getHandle(await workflowOf(service.storage, conversationId));
  return (await handle.describe()).memo?.['changed'] === true;
}

test.each(ways)(
  '$way: the call goes on with its own code, the next one begins with the new',
  { timeout: 120_000 },
  async ({ start, shows }) => {
    await startVersion('old', 'today');
    const isChanged: boolean[] = [];
    const atQuestion = async () => {
      isChanged.push(await waitsIn());
      if (isChanged.length > 1) return;
      await startVersion('new', 'changed');
    };
    await using client = await start({
      url: `${service.baseUrl}/run/v1/mcp`,
      token: await service.token('alice'),
      shows,
      answer: async () => {
        await atQuestion();
        return { action: 'decline' };
      },
      onPageDone: () => undefined,
    });
    for (const expected of [[false], [false, true]]) {
      let told = await client.call('ask_assistant', { message: 'list my open issues' });
      if (told.elicitId !== undefined) {
        await atQuestion();
        const { elicitId } = told;
        told = await client.call('sendElicitationResult', { elicitId, action: 'decline' });
      }
      expect(told.text).toContain('I will leave your Tracker account alone');
      expect(isChanged).toEqual(expected);
    }
  },
);
