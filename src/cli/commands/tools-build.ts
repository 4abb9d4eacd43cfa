/** `interlude tools check|build`: what a folder of tools in TypeScript holds, and its bundle made ahead of time. */
import path from 'node:path';
import { buildToolBundle, checkToolFolder } from '../../tool-bundles/open-tool-bundle.ts';
import type { ToolDescription } from '../../tools/describe-tools.ts';
import { ToolFolderError } from '../../tool-bundles/tool-folder-error.ts';
import { defineCommand } from '../command.ts';

export const check = defineCommand({
  arguments: ['folder'],
  options: {},
  details: 'Every mistake is told with its file and what to do about it; the exit code is then 1.',
  run: (_, [folder = '.']) =>
    orMistakes(async () => {
      const manifest = await checkToolFolder(folder);
      return listOf(manifest);
    }),
});

export const build = defineCommand({
  arguments: ['folder'],
  options: {},
  details:
    'The bundle is kept in the folder, as .interlude-bundle.json. A worker that finds it there, and the folder unchanged, starts without bundling.',
  run: (_, [folder = '.']) =>
    orMistakes(async () => {
      const { hash, manifest } = await buildToolBundle(folder);
      return `${listOf(manifest)}bundle ${hash} in ${path.join(folder, '.interlude-bundle.json')}\n`;
    }),
});

function listOf(manifest: ToolDescription[]): string {
  return manifest.map(({ name, file, description }) => `${name} (${file}): ${description}\n`).join('');
}

async function orMistakes(work: () => Promise<string>): Promise<number> {
  try {
    process.stdout.write(await work());
    return 0;
  } catch (error) {
    if (!(error instanceof ToolFolderError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}
