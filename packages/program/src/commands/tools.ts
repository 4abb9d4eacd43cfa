/** `interlude tools`: the tools in a folder, and what is wrong with them. */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ToolDescription } from '@interlude-ai/tools/describe-tools.ts';
import { group } from '@interlude-ai/kit/terminal/command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';

/** `more`: commands of the service. */
export function tools(...more: CommandUnknownOpts[]): CommandUnknownOpts {
  const check = new Command('check')
    .description('check a folder of tools, and list them')
    .argument('<folder>')
    .addHelpText(
      'after',
      '\nPrints every mistake with its file and what to do about it; the exit code is then 1.',
    )
    .action((folder) => orMistakes(() => checkTools(folder)));
  return group('tools', 'a folder of tools', [check, ...more], 'check');
}

async function checkTools(folder: string): Promise<string> {
  await requireBundler();
  const { checkToolFolder } = await import('@interlude-ai/tools/bundle/read-manifest.ts');
  const { ToolFolderError } = await import('@interlude-ai/tools/bundle/tool-files.ts');
  const { inspectToolSources } = await import('@interlude-ai/kit/lint/inspect-tools.ts');
  const { tools: found, pages, hints } = await checkToolFolder(folder);
  const seen = await inspectToolSources(folder);
  const textsOf = (level: 'error' | 'warning') =>
    seen.flatMap((one) => (one.level === level ? one.text : []));
  const errors = textsOf('error');
  if (errors.length > 0) throw new ToolFolderError(folder, errors);
  const note =
    pages.length === 0
      ? ''
      : `\n${pages.join(', ')}: sends users to a page (mode: 'url'), so the agent needs tools.completionSecretEnv in the agents file\n`;
  return listOfTools(found) + note + [...hints, ...textsOf('warning')].map((hint) => `\n${hint}\n`).join('');
}

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

/** Prints the result of `work`, or the mistakes in the folder with the exit code 1. */
export async function orMistakes(work: () => Promise<string>): Promise<void> {
  try {
    print(await work());
  } catch (error) {
    if ((error as Error).name !== 'ToolFolderError') throw error;
    printAside(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
