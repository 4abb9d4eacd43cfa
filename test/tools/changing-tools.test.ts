/** Tools that come and go while a turn uses them, and that differ by user. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { startChangingToolsServer } from '../servers/changing-tools-server.ts';
import { callOf, nthQuestion, startAsking } from '../service/asking.ts';
import { connectAccount } from '../service/connect-account.ts';
import { startService } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

const temporal = useDevelopmentServer();
let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

test.each(['modern', 'legacy'] as const)(
  'a %s server that says during a call that its tools have changed is listed again at once',
  async (era) => {
    const server = await startChangingToolsServer(era);
    stack.defer(() => server.stop());
    const service = await startAsking({ temporal, url: server.config.url });
    stack.defer(() => service.stop());
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const before = await alice.chat(callOf(['hidden']), { conversation });
    await before.finished();
    expect(before.text()).toBe('I have no tool called asking__hidden.');
    const unlock = await alice.chat(callOf(['unlock']), { conversation });
    await unlock.finished();
    expect(unlock.text()).toBe('unlocked');
    const after = await alice.chat(callOf(['hidden']), { conversation });
    await after.finished();
    expect(after.text()).toBe('found');
  },
);

test('a user’s own list is there after their first call, whoever was listed before', async () => {
  const service = await startService({ temporal });
  stack.defer(() => service.stop());
  const { toolCatalogue } = service.storage;
  const kept = (user: string) => toolCatalogue.get({ tenant: 'demo', server: 'tracker', user });
  const connectAndList = async (user: 'alice' | 'bob') => {
    const caller = await service.as(user);
    const turn = await caller.chat('list my open issues');
    const { url } = (await nthQuestion(turn, 0)) as { url?: string };
    await connectAccount(user, url ?? '');
    await turn.finished();
    expect(turn.text()).toContain('Here they are');
    return turn;
  };
  expect(await kept('alice')).toBeNull();
  await connectAndList('alice');
  expect(await kept('alice')).toMatchObject({ isOwn: true, audience: 'tenant' });

  expect(await kept('bob')).toMatchObject({ isOwn: false });
  const turn = await connectAndList('bob');
  // Known by alice's list, the tool is called by its name, and the question is about the account alone.
  expect(turn.chunks.filter(({ type }) => type === 'tool-input-available')).toMatchObject([
    { toolName: 'tracker__list_issues' },
  ]);
  expect(await kept('bob')).toMatchObject({ isOwn: true });
});
