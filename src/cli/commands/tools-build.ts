/** `interlude tools build`: the bundle of a folder of tools in TypeScript, made ahead of time. */
import path from 'node:path';
import { buildToolBundle } from '../../platform/tool-bundles/open-tool-bundle.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { listOfTools, orMistakes } from '@interlude-ai/program/commands/tools-check.ts';

export const build = defineCommand({
  arguments: ['<folder>'],
  options: {},
  details:
    'The bundle is kept in the folder, as .interlude-bundle.json. A worker that finds it there, and the folder unchanged, starts without bundling.',
  run: (_, [folder = '.']) =>
    orMistakes(async () => {
      const { hash, manifest } = await buildToolBundle(folder);
      return `${listOfTools(manifest)}bundle ${hash} in ${path.join(folder, '.interlude-bundle.json')}\n`;
    }),
});
