/** A command of the program as a process of its own. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { bareEnvironment } from '../bare-environment.ts';

const script = path.resolve(import.meta.dirname, '../../src/cli/checkout.ts');

export interface CommandEnd {
  code: number | null;
  output: string;
  errors: string;
}

/** `onErrors` sees all that was written to stderr so far, until it says that it has seen enough. */
export function startCommand(
  words: string[],
  env: Record<string, string>,
  onErrors: (errors: string) => boolean = () => true,
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [script, ...words], { env: { ...bareEnvironment(), ...env } });
  const end = { output: '', errors: '' };
  let hasSeen = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    end.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    end.errors += text;
    hasSeen ||= onErrors(end.errors);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...end })));
}
