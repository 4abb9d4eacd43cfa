/**
 * A repository of tools outside of the checkout: the package installed from its tarball, type-checked with a TypeScript of
 * its own, checked by the package's program, and its folder run by the service.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { openAgentBundles } from '../../src/platform/tool-bundles/open-agent-bundles.ts';
import { startDevelopmentServer } from '../development-server.ts';
import { startService } from '../service/service.ts';
import { installPackages, withTools } from './installed.ts';
import type { Project } from './installed.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const stack = new AsyncDisposableStack();
let project: Project;
let notes: string;

beforeAll(async () => {
  project = await installPackages(['rolldown', '@types/node']);
  stack.defer(() => project.remove());
  const { folder } = project;
  cpSync(path.join(root, 'examples/tools/tools'), path.join(folder, 'tools'), { recursive: true });
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024'],
    types: ['node'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['tools/**/*.ts'] }),
  );
  writeFileSync(
    path.join(folder, 'agents.yaml'),
    `providers: { scripted: { script: ./script.ts } }
agents:
  assistant: { model: scripted, tools: { folder: ./tools, completionSecretEnv: PAGES_SECRET } }
`,
  );
  cpSync(path.join(root, 'test/fixtures/script.ts'), path.join(folder, 'script.ts'));
  const script = readFileSync(path.join(folder, 'script.ts'), 'utf8');
  writeFileSync(path.join(folder, 'script.ts'), script.replaceAll("'../../src/", `'${root}/src/`));
  notes = path.join(folder, 'notes');
  writeFileSync(notes, '');
  process.env['DESK_NOTEBOOK'] = notes;
}, 180_000);
afterAll(() => stack.disposeAsync());

function program(name: string, ...args: string[]) {
  return run(name, args, { cwd: project.folder, env: withTools() }).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      said: stdout + stderr,
    }),
  );
}
const interlude = (...words: string[]) => program('npx', '--no', '--', 'interlude', ...words);

test('type-checks by itself, and what is wrong does not compile', async () => {
  expect(await program('tsc', '-p', '.')).toEqual({ code: 0, said: '' });
  const wrong = path.join(project.folder, 'tools/wrong.ts');
  const source = readFileSync(path.join(project.folder, 'tools/delete-page.ts'), 'utf8');
  writeFileSync(wrong, source.replace('z.boolean()', 'z.object({ sure: z.boolean() })'));
  const { code, said } = await program('tsc', '-p', '.');
  rmSync(wrong);
  expect(code).toBeGreaterThan(0);
  expect(said).toContain('A form is flat');
});

test('is checked by the program of the package, which says where bundles are made', async () => {
  const checked = await interlude('tools', 'check', './tools');
  expect(checked).toEqual({
    code: 0,
    said: expect.stringContaining('delete_page (delete-page.ts): Deletes'),
  });
  expect(checked.said.match(/^\w+ \([\w-]+\.ts\): /gm)).toHaveLength(6);

  const broken = path.join(project.folder, 'broken');
  mkdirSync(broken);
  writeFileSync(
    path.join(broken, 'a.ts'),
    `import { readFileSync } from 'node:fs';
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
export const a = defineTool({ name: 'a', description: 'A.', input: z.object({}), run: () => readFileSync('/a', 'utf8') });
`,
  );
  const { code, said } = await interlude('tools', 'check', './broken');
  expect([code, said]).toEqual([1, expect.stringContaining('a.ts: it imports node:fs')]);

  expect(await interlude('tools', 'build', './tools')).toEqual({
    code: 2,
    said: expect.stringContaining("unknown command 'build'"),
  });
});

test('without a bundler the program says which one to install', async () => {
  rmSync(path.join(project.folder, 'node_modules/rolldown'), { recursive: true });
  const { code, said } = await interlude('tools', 'check', './tools');
  expect([code, said]).toEqual([1, expect.stringContaining('npm install --save-dev rolldown')]);
});

test('its folder is bundled and run by the service', async () => {
  const built = await program(
    process.execPath,
    path.join(root, 'src/cli/interlude.mjs'),
    'tools',
    'build',
    'tools',
  );
  expect([built.code, built.said]).toEqual([0, expect.stringMatching(/^bundle [0-9a-f]{16} in /m)]);

  const env = { INTERLUDE_CONFIG: path.join(project.folder, 'agents.yaml'), PAGES_SECRET: 'a secret' };
  const opened = await openAgentBundles(loadConfig(env, project.folder));
  const tools = Object.fromEntries([...opened].map(([agent, { bundle }]) => [agent, bundle]));
  const temporal = await startDevelopmentServer();
  stack.defer(() => temporal.stop());
  const service = await startService({ temporal, env, tools });
  stack.defer(() => service.stop());
  const alice = await service.as('alice');
  const conversation = 'a-conversation-of-a-stranger';
  const stream = await alice.chat('call delete_page {"page":"Home"}', { conversation });
  const { elicitationId, message } = await stream.question('pending');
  expect(message).toBe('Delete the page "Home"?');
  await alice.answer({
    conversationId: conversation,
    elicitationId,
    action: 'accept',
    content: { confirmed: true },
  });
  await stream.finished();
  expect(stream.text()).toContain('"deleted":"Home"');
  expect(readFileSync(notes, 'utf8')).toBe('deleted Home\n');
});
