/** A command of the program as a process of its own. */
import path from 'node:path';
import { bareEnvironment } from '../bare-environment.ts';
import { startProgram } from '../programs/running-program.ts';

export const script = path.resolve(import.meta.dirname, '../../src/cli/checkout.ts');

export interface CommandEnd {
  code: number | null;
  output: string;
  errors: string;
}

/** `onErrors` sees all that was written to stderr so far, until it says that it has seen enough. */
export async function startCommand(
  words: string[],
  env: Record<string, string>,
  onErrors: (errors: string) => boolean = () => true,
): Promise<CommandEnd> {
  const { child, written, ended } = startProgram(process.execPath, [script, ...words], {
    env: { ...bareEnvironment(), ...env },
  });
  let hasSeen = false;
  child.stderr.on('data', () => (hasSeen ||= onErrors(written.stderr)));
  const { code } = await ended;
  return { code, output: written.stdout, errors: written.stderr };
}
