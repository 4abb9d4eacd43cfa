/** `examples/tools`: its command, and what its CI file runs. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { bareEnvironment } from '../bare-environment.ts';
import { textOf } from '../e2e/watch.ts';
import { openExample } from './run-example.ts';
import type { Example } from './run-example.ts';

const run = promisify(execFile);
let example: Example;
beforeAll(async () => {
  example = await openExample('tools');
});
afterAll(() => example.stop());

test('a tool of the repository asks, and its effect is in the notebook', async () => {
  await example.start();
  let last;
  const turn = example.client('alice').start(
    { message: { text: 'Delete the page Home.' } },
    {
      onElicitation({ message }) {
        expect(message).toBe('Delete the page "Home"?');
        return { action: 'accept', content: { confirmed: true } };
      },
    },
  );
  for await (const view of turn) last = view;
  expect(last && textOf(last)).toContain('"deleted":"Home"');
  expect(example.read('notebook.txt')).toBe('deleted Home\n');
  const ours = example.inRepository();
  expect(ours).toContain('agents.yaml');
  expect(ours.filter((file) => /^(\.interlude|notebook)/.test(file))).toEqual([]);
});

test('what its CI file runs passes, and a tag that is not the version does not', async () => {
  const { jobs } = parse(example.read('.github/workflows/check.yml')) as {
    jobs: { check: { steps: { run?: string }[] } };
  };
  const [install, check, tests, version, ...others] = jobs.check.steps.flatMap((step) => step.run ?? []);
  expect([install, others]).toEqual(['npm ci', []]);
  const shell = (script: string, env = {}) =>
    run('/bin/bash', ['-ec', script], { cwd: example.folder, env: { ...bareEnvironment(), ...env } });
  expect((await shell(check as string)).stdout).toContain('delete_page (delete-page.ts)');
  expect((await shell(tests as string)).stdout).toMatch(/pass 5\n.*fail 0/s);
  await shell(version as string, { GITHUB_REF_NAME: 'v1.3.0' });
  await expect(shell(version as string, { GITHUB_REF_NAME: 'v1.4.0' })).rejects.toMatchObject({ code: 1 });
});
