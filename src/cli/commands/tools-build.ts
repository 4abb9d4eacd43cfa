/** `interlude tools build`: the bundle of a folder of tools in TypeScript, made ahead of time. Not in the published package. */
import path from 'node:path';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { listOfTools, orMistakes } from '@interlude-ai/program/commands/tools.ts';

export function toolsBuild(): CommandUnknownOpts {
  return new Command('build')
    .description('bundle a folder of tools, so that workers start faster')
    .argument('<folder>')
    .addHelpText(
      'after',
      `
The bundle is kept in the folder, as .interlude-bundle.json. A worker that finds
it there, and the folder unchanged, starts without bundling.`,
    )
    .action((folder) =>
      orMistakes(async () => {
        const { buildToolBundle } = await import('../../platform/tool-bundles/open-tool-bundle.ts');
        const { hash, manifest } = await buildToolBundle(folder);
        return `${listOfTools(manifest)}bundle ${hash} in ${path.join(folder, '.interlude-bundle.json')}\n`;
      }),
    );
}
