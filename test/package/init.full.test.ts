/** The first hour of a new user, from packages: `init`, `npm test`, `npm run dev`, an answer. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@interlude-ai/client/client.ts';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareEnvironment } from '../bare-environment.ts';
import { spawnService, untilReady } from '../e2e/processes.ts';
import { freePort } from '../free-port.ts';
import { buildPackages, withTools } from './installed.ts';

const run = promisify(execFile);
const stack = new AsyncDisposableStack();
const program = 'node_modules/@interlude-ai/service/src/cli/interlude.mjs';
let folder: string;

beforeAll(async () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'interlude-init-'));
  stack.defer(() => rmSync(parent, { recursive: true, force: true }));
  folder = path.join(parent, 'my-agents');
  await using built = await buildPackages('packages', 'service');
  await built.install(parent, ['interlude-ai']);
  const init = path.join(parent, 'node_modules/.bin/interlude-ai');
  const env = { ...withTools(), ...built.environment };
  await run(init, ['init', 'my-agents', '--yes'], { cwd: parent, env });
}, 180_000);
afterAll(() => stack.disposeAsync());

test('its files fit the types of the packages', async () => {
  await run('tsc', ['--project', folder], { env: withTools() });
});

test('the test of the folder passes', async () => {
  const { stdout } = await run(process.execPath, [program, 'test'], { cwd: folder, env: bareEnvironment() });
  expect(stdout).toMatch(/pass 2\n/);
});

test('dev serves the playground, and the tool asks', async () => {
  const names = ['PORT', 'DEMO_IDENTITY_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'];
  const ports = await Promise.all(names.map(async (name) => [name, String(await freePort())] as const));
  const env: Record<string, string> = Object.fromEntries(ports);
  const baseUrl = `http://127.0.0.1:${env['PORT']}`;
  const service = spawnService('dev', env, { checkout: folder, program });
  stack.defer(async () => void (await service.kill('SIGTERM')));
  await untilReady(service, baseUrl);
  expect((await fetch(`${baseUrl}/playground.js`)).status).toBe(200);
  expect((await fetch(`${baseUrl}/playground/problems`)).status).toBe(401);
  const token = () => demoToken(`http://127.0.0.1:${env['DEMO_IDENTITY_PORT']}`, 'alice');
  const client = createClient({ baseUrl, token, capabilities: { form: true, url: true } });
  const asked: string[] = [];
  const turn = client.start(
    { message: { text: 'Book a table for four.' } },
    {
      onElicitation({ message }) {
        asked.push(message);
        return { action: 'accept', content: { time: '19:30', outside: false } };
      },
    },
  );
  let last;
  for await (const view of turn) last = view;
  expect(asked).toEqual(['A table for 4: when?']);
  expect(JSON.stringify(last?.parts)).toContain('Booked: a table for 4 at 19:30, number T4-1930.');
});
