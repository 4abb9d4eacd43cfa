/** A client behind LiteLLM, which drops what it does not know of a chunk. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { pythonWith } from '../programs/python-package.ts';
import type { Python } from '../programs/python-package.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const script = fileURLToPath(new URL('ask-by-litellm.py', import.meta.url));
const { service } = useService();
let python: Python;

beforeAll(async () => {
  python = await pythonWith('litellm', '1.110.2');
}, 600_000);
beforeEach(({ skip }) => {
  if (python.kind === 'missing') skip(python.why);
});

test('the question arrives in the fields that LiteLLM passes on, and the answer follows', async () => {
  if (python.kind === 'missing') return;
  service.tracker.revoke('alice');
  const url = `${service.baseUrl}/run/v1`;
  const args = [script, url, await service.token('alice'), 'list my open issues'];
  const child = spawn(python.executable, args, {
    env: { ...process.env, NO_PROXY: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: { question?: { status: string; url: string }; text?: string }[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('{')) continue;
    const one = JSON.parse(line) as (typeof said)[number];
    said.push(one);
    if (one.question?.status === 'pending') await connectAccount('alice', one.question.url);
  }
  expect(said.flatMap(({ question }) => question?.status ?? [])).toEqual(['pending', 'accept']);
  expect(said.at(-1)?.text).toMatch(/^Here they are: #\d+ /);
}, 120_000);
