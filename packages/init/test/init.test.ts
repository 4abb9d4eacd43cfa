/** What `init` writes, and what it refuses. That the folder works: test/package/init.full.test.ts. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { testFolder } from '../../../test/test-folder.ts';
import { serverNameOf } from '../src/choices.ts';

const run = promisify(execFile);
const program = path.resolve(import.meta.dirname, '../src/index.ts');

async function init(cwd: string, ...words: string[]): Promise<{ code: number; said: string }> {
  const all = [program, 'init', ...words];
  const ended = await run(process.execPath, all, { cwd }).catch((error: unknown) => error);
  const { code = 0, stdout, stderr } = ended as { code?: number; stdout: string; stderr: string };
  return { code, said: stdout + stderr };
}

test('a folder that is not empty is refused, and stays as it was', async () => {
  const folder = testFolder();
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) writeFileSync(path.join(folder, name), '');
  mkdirSync(path.join(folder, '.git'));
  const { code, said } = await init(folder, '.', '--yes', '--no-install');
  expect(code).toBe(2);
  expect(said).toContain(
    'error: . is not empty: it has a.txt, b.txt, c.txt and 1 more. Name a new folder, or empty this one. Nothing was written.',
  );
  expect(readdirSync(folder)).toEqual(['.git', 'a.txt', 'b.txt', 'c.txt', 'd.txt']);
});

test('without a terminal, the missing option is named', async () => {
  const folder = testFolder();
  const { code, said } = await init(folder, 'mine', '--model', 'openai:gpt-5', '--no-install');
  expect(code).toBe(2);
  expect(said).toContain('error: --server is missing, and there is no terminal to ask at.');
  expect(readdirSync(folder)).toEqual([]);
});

test('an old Node is refused, which npm would only warn about', async () => {
  const folder = testFolder();
  const old =
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.9.0" } })';
  const words = [
    '--import',
    `data:text/javascript,${encodeURIComponent(old)}`,
    program,
    'init',
    'mine',
    '--yes',
  ];
  const ended = await run(process.execPath, words, { cwd: folder }).catch((error: unknown) => error);
  expect(ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Interlude needs Node 22.19 or newer, and this is v22.9.0') as string,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['--model', 'gpt-5', 'Write scripted, openai:gpt-5,'],
  ['--server', 'localhost:3000', 'Write http://… or https://…, or none.'],
  ['--sign-in', 'login.example', 'Write http://… or https://…, or demo.'],
])('%s %s is refused with what to write', async (option, value, words) => {
  const { code, said } = await init(testFolder(), 'mine', option, value, '--yes', '--no-install');
  expect(code).toBe(2);
  expect(said).toContain(`error: ${option}: ${words}`);
});

test('each choice is in the files, which are as the service reads them', async () => {
  const folder = testFolder();
  const choices = ['--model', '@ai-sdk/google:gemini-2.5-pro', '--server', 'https://mcp.tracker.example/mcp'];
  const signIn = ['--sign-in', 'https://login.example', '--client-id', 'agents'];
  expect(await init(folder, 'mine', ...choices, ...signIn, '--no-install')).toMatchObject({ code: 0 });
  const mine = path.join(folder, 'mine');
  expect(statSync(path.join(mine, '.env')).mode & 0o777).toBe(0o600);
  const env = Object.fromEntries(
    readFileSync(path.join(mine, '.env'), 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line))
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
  const config = loadConfig({ ...env, INTERLUDE_CONFIG: 'agents.yaml' }, mine);
  expect(config.agents.get('assistant')).toMatchObject({
    model: '@ai-sdk/google:gemini-2.5-pro',
    servers: [{ name: 'tracker' }],
    tools: { folder: path.join(mine, 'tools') },
  });
  expect(config.auth).toMatchObject({ issuer: 'https://login.example', client: { id: 'agents' } });
  expect(config.keys).toBeDefined();
  const { dependencies } = JSON.parse(readFileSync(path.join(mine, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(Object.keys(dependencies)).toEqual([
    '@interlude-ai/service',
    '@interlude-ai/tools',
    '@ai-sdk/google',
    'zod',
  ]);
  expect(readFileSync(path.join(mine, '.gitignore'), 'utf8')).toMatch(/^\.env$/m);
  expect(readdirSync(mine)).not.toContain('model.js');
});

test('it says which key is missing, and how to enter a folder with a space in its name', async () => {
  const folder = testFolder();
  const { said } = await init(folder, 'my agents', '--yes', '--model', 'openai:gpt-5', '--no-install');
  expect(said).toContain('The model needs a key: write OPENAI_API_KEY=… into .env.');
  expect(said).toContain('cd "my agents"\n');
});

test.each([
  ['https://mcp.linear.app/mcp', 'linear'],
  ['https://tracker.example/mcp', 'tracker'],
  ['http://127.0.0.1:3002/mcp', 'server'],
  ['http://localhost:3002/mcp', 'server'],
])('the server at %s is called %s', (url, name) => expect(serverNameOf(url)).toBe(name));
