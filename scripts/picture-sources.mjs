/**
 * What the pictures of the docs show: a digest of these sources is kept beside them. As a program it says whether they are older.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
export const picturesFolder = path.join(root, 'docs/pictures');
export const digestsFile = path.join(picturesFolder, 'sources.json');

const chat = [
  'packages/widget/src/*',
  'packages/core/src/elicitation/words/*',
  'src/api/pages/playground.ts',
  'src/api/pages/playground/*.tsx',
  'demo/script/*',
  'demo/*/picture.svg',
  'scripts/pictures.ts',
];
const pages = [
  'src/api/pages/{elements,layout,style}.ts',
  'src/api/pages/words/*',
  'demo/*/picture.svg',
  'scripts/pictures.ts',
];
const settings = [...pages, 'src/api/pages/settings/*'];

/** @type {Record<string, string[]>} */
const sourcesOf = {
  'asked.png': [...chat, ...pages, 'src/api/pages/question/*'],
  'chat.png': chat,
  'chat-dark.png': chat,
  'chat-german.png': chat,
  'chat-narrow.png': chat,
  'waiting.png': settings,
  'accounts.png': settings,
  'history.png': settings,
};

/** By the name of the picture. */
export function digestsOfSources() {
  return Object.fromEntries(
    Object.entries(sourcesOf).map(([name, patterns]) => {
      const digest = createHash('sha256');
      for (const file of globSync(patterns, { cwd: root }).toSorted())
        digest.update(file.replaceAll('\\', '/')).update(readFileSync(path.join(root, file)));
      return [name, digest.digest('hex').slice(0, 16)];
    }),
  );
}

if (process.argv[1] === import.meta.filename) {
  const made = JSON.parse(readFileSync(digestsFile, 'utf8'));
  const old = Object.entries(digestsOfSources()).filter(([name, digest]) => made[name] !== digest);
  if (old.length > 0) {
    console.error(
      `Older than what they show: ${old.map(([name]) => `docs/pictures/${name}`).join(', ')}. Run: npm run pictures`,
    );
    process.exitCode = 1;
  }
}
