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

/** Of a process and all that it started, by their ids. */
async function environmentsFrom(root: number): Promise<string[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    const parent = /\) \S (\d+)/.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isOurs = (pid: number): boolean =>
    pid === root || (parents.has(pid) && isOurs(parents.get(pid) ?? 0));
  const ours = [...parents.keys()].filter(isOurs);
  return Promise.all(ours.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8')));
}

const handedOn = async () => (await readdir('/dev/shm')).filter((name) => name.startsWith('interlude-'));

test.runIf(process.platform === 'linux')(
  'no secret of the service stands in the environment of a process, and the service has them all',
  async () => {
    const before = await handedOn();
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
    const environments = await environmentsFrom(service.pid ?? 0);
    // Ours, Temporal, and the shell that watches over it.
    expect(environments.length).toBeGreaterThan(1);
    for (const text of environments) {
      expect(text).not.toContain(someKeys);
      expect(text).not.toContain('sk-nobody-else');
    }
    expect(await handedOn()).toEqual(before);
    const turn = say(deployment.client('alice'), 'hello');
    expect(await turn.end()).toMatchObject({ status: 'completed' });
  },
);
