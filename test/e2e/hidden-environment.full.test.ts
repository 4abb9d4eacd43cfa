/** What a program of the same user finds out about our processes: a server that is started as a process is one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { lacking } from './processes.ts';
import { say } from './watch.ts';
import { createDeployment, someKeys } from './deployment.ts';

const deployment = await createDeployment({
  env: { INTERLUDE_KEYS: someKeys, OPENAI_API_KEY: 'sk-nobody-else' },
});
afterAll(() => deployment.stop());

/** A process and all that it started. */
async function processesFrom(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    const parent = /\) \S (\d+)/.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isOurs = (pid: number): boolean =>
    pid === root || (parents.has(pid) && isOurs(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(isOurs);
}

const handedOnBy = async (pid: number) =>
  (await readdir('/dev/shm')).filter((name) => name.startsWith(`interlude-${pid}-`));

test.runIf(process.platform === 'linux')(
  'no secret of the service stands in the environment of a process, and the service has them all',
  async () => {
    // Not as other tests do, whose watcher of the process has its environment, too.
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, ...deployment.environment };
    const service = spawn(process.execPath, ['src/cli/checkout.ts', 'start'], { env, stdio: 'ignore' });
    const ended = once(service, 'exit');
    onTestFinished(async () => {
      service.kill('SIGTERM');
      await ended;
    });
    await expect.poll(() => lacking(deployment.baseUrl), { timeout: 40_000 }).toEqual([]);
    const pids = await processesFrom(service.pid ?? 0);
    // Ours, Temporal, and the shell that watches over it.
    expect(pids.length).toBeGreaterThan(1);
    for (const pid of pids) {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      expect(environment).not.toContain(someKeys);
      expect(environment).not.toContain('sk-nobody-else');
      expect(await handedOnBy(pid)).toEqual([]);
    }
    const turn = say(deployment.client('alice'), 'hello');
    expect(await turn.end()).toMatchObject({ status: 'completed' });
  },
);
