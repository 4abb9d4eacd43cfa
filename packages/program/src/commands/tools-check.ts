/** `interlude tools check`: the tools in a folder, and what is wrong with them. */
import type { ToolDescription } from '@interlude-ai/tools/describe-tools.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';

export const check = defineCommand({
  arguments: ['<folder>'],
  options: {},
  details: 'Prints every mistake with its file and what to do about it; the exit code is then 1.',
  run: (_, [folder = '.']) =>
    orMistakes(async () => {
      await requireBundler();
      const { checkToolFolder } = await import('../../../../src/platform/tool-bundles/open-tool-bundle.ts');
      const { ToolFolderError } = await import('@interlude-ai/tools/bundle/tool-files.ts');
      const { inspectToolSources } = await import('@interlude-ai/kit/lint/inspect-tools.ts');
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

/** A package that is installed as a client has no bundler; projects with tools install it. */
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

export function listOfTools(manifest: ToolDescription[]): string {
  return manifest.map(({ name, file, description }) => `${name} (${file}): ${description}\n`).join('');
}

/** Prints the result of `work`, or the mistakes in the folder. Returns the exit code. */
export async function orMistakes(work: () => Promise<string>): Promise<number> {
  try {
    print(await work());
    return 0;
  } catch (error) {
    if ((error as Error).name !== 'ToolFolderError') throw error;
    printAside(`${(error as Error).message}\n`);
    return 1;
  }
}
