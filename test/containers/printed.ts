/** Runs commands as a page of docs/ prints them. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const docs = path.resolve(import.meta.dirname, '../../docs');

/** The one block of code that contains these words. */
export async function printedBlock(page: string, words: string): Promise<string> {
  const text = await readFile(path.join(docs, page), 'utf8');
  const blocks = Array.from(text.matchAll(/^```\w+\n([^]*?)^```$/gm), ([, block = '']) => block);
  const [found, ...others] = blocks.filter((block) => block.includes(words));
  if (found === undefined || others.length > 0)
    throw new Error(`docs/${page} has ${others.length + (found ? 1 : 0)} blocks with "${words}"`);
  return found;
}

/** At a terminal, as people do. The first command that fails ends it. */
export async function runPrinted(
  page: string,
  words: string,
  { folder, env }: { folder: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const file = path.join(folder, 'printed.sh');
  await writeFile(file, `set -euo pipefail\n${await printedBlock(page, words)}`);
  const options = ['--quiet', '--return', '--command', `bash ${file}`, '/dev/null'];
  const work = run('script', options, { cwd: folder, env, maxBuffer: 2 ** 28 });
  work.child.stdin?.end();
  return (await work).stdout;
}
