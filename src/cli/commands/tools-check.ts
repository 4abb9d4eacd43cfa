/** `interlude tools check`: what a folder of tools in TypeScript holds, and what is wrong with it. */
import { defineCommand } from '../command.ts';
import { listOfTools, orMistakes } from '../tool-list.ts';

export const check = defineCommand({
  arguments: ['folder'],
  options: {},
  details: 'Prints every mistake with its file and what to do about it; the exit code is then 1.',
  run: (_, [folder = '.']) =>
    orMistakes(async () => {
      await requireBundler();
      const { checkToolFolder } = await import('../../tool-bundles/check-tool-folder.ts');
      const { ToolFolderError } = await import('../../tool-bundles/tool-folder-error.ts');
      const { inspectToolSources } = await import('../lint/inspect-tools.ts');
      const { tools, pages, hints } = await checkToolFolder(folder);
      const seen = await inspectToolSources(folder);
      const [errors, warnings] = (['error', 'warning'] as const).map((level) =>
        seen.flatMap((one) => (one.level === level ? one.text : [])),
      ) as [string[], string[]];
      if (errors.length > 0) throw new ToolFolderError(folder, errors);
      const note =
        pages.length === 0
          ? ''
          : `\n${pages.join(', ')}: sends users to a page (mode: 'url'), so the agent needs tools.completionSecretEnv in the agents file\n`;
      return listOfTools(tools) + note + [...hints, ...warnings].map((hint) => `\n${hint}\n`).join('');
    }),
});

/** Whoever installs the package for a client needs no bundler, so it is there only where tools are written. */
async function requireBundler(): Promise<void> {
  try {
    await import('rolldown');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'rolldown'")) throw error;
    throw new Error(
      'Checking tools takes rolldown, which is not installed: npm install --save-dev rolldown',
      {
        cause: error,
      },
    );
  }
}
