/** What the commands about folders of tools say: the tools that are in one, or its mistakes. */
import type { ToolDescription } from '../tools/describe-tools.ts';
import { print, printAside } from './terminal-text.ts';

export function listOfTools(manifest: ToolDescription[]): string {
  return manifest.map(({ name, file, description }) => `${name} (${file}): ${description}\n`).join('');
}

/** Prints what `work` returns; mistakes of the folder's author are printed as they are. Returns the exit code. */
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
