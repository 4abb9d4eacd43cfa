/** A process that is told to stop while a tool is at work: what it has begun, it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { connectAccount } from '../service/connect-account.ts';
import { callsIn, failuresIn, say } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await createDeployment({ env: { LOG_LEVEL: 'info' } });
  const service = await deployment.start('start');
  const alice = deployment.client('alice');
  const turn = say(alice, 'list my open issues');
  await connectAccount('alice', (await turn.question()).url);
  await turn.end();
  await service.kill('SIGTERM');
}, 90_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

/** `create_issue` is not repeatable: a process that does not wait for it leaves an unknown outcome. */
async function whileATool() {
  const service = await deployment.start('start');
  const { arrived, release } = deployment.tracker.faults.hold('before');
  const turn = say(deployment.client('alice'), 'create an issue called Slow');
  await arrived;
  return { service, turn, release };
}

test(
  'a long tool call outlives the signal, and the turn goes on with its result',
  { timeout: 90_000 },
  async () => {
    const { service, turn, release } = await whileATool();
    const ended = service.kill('SIGTERM');
    await vi.waitFor(() =>
      expect(service.output()).toMatch(/waiting up to 60 s for calls .* \(1\); stop again/),
    );
    // Longer than workers wait unless they are told to; Tracker has 20 seconds to answer.
    await sleep(13_000);
    expect(service.isAlive()).toBe(true);
    release();
    expect(await ended).toEqual({ code: 0, signal: null });

    const next = await deployment.start('start');
    const view = await turn.end();
    expect(view.status).toBe('completed');
    expect(callsIn(view)).toEqual(['tracker__create_issue: done']);
    expect(failuresIn(view)).toEqual([]);
    expect(deployment.tracker.calls.filter(({ tool }) => tool === 'create_issue')).toHaveLength(1);
    await next.kill('SIGTERM');
  },
);

test('a second signal stops at once', { timeout: 60_000 }, async () => {
  const { service, release } = await whileATool();
  const ended = service.kill('SIGTERM');
  await vi.waitFor(() => expect(service.output()).toContain('stop again to leave them'));
  await sleep(600);
  void service.kill('SIGTERM');
  expect(await ended).toEqual({ code: 1, signal: null });
  release();
});
