/** What Node made of the program's files is kept for its next start, in the checkout itself. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../bare-environment.ts';
import { testFolder } from '../test-folder.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const tellFolder = `data:text/javascript,import module from 'node:module';
process.on('exit', () => console.error(module.getCompileCacheDir(), process.env.NODE_COMPILE_CACHE));`;

async function folders(env: Record<string, string>): Promise<string[]> {
  const words = ['--import', tellFolder, 'src/cli/interlude.mjs', '--help'];
  const { stderr } = await run(process.execPath, words, { cwd: root, env });
  return stderr.trim().split(' ');
}

test('is kept in the checkout, for threads too', async () => {
  const { NODE_COMPILE_CACHE: _, ...env } = bareEnvironment();
  const [used = '', ofThreads = ''] = await folders(env);
  expect(path.relative(root, ofThreads)).toBe(path.join('build', 'compiled'));
  expect(path.dirname(used)).toBe(ofThreads);
  expect(await readdir(used)).not.toEqual([]);
});

test('is kept where the one who starts Node says', async () => {
  const folder = testFolder();
  const [used = '', ofThreads] = await folders({ ...bareEnvironment(), NODE_COMPILE_CACHE: folder });
  expect([path.dirname(used), ofThreads]).toEqual([folder, folder]);
  expect(await readdir(used)).not.toEqual([]);
});
