/** The terminal client as a process of its own, with its input and output piped. */
import { onTestFinished } from 'vitest';
import { startProgram } from '../../../../test/programs/running-program.ts';
import { script } from '../../../../test/cli/start-command.ts';

export type Chat = ReturnType<typeof startChat>;

export function startChat(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { child, written, ended, sees } = startProgram(process.execPath, [script, 'chat', ...args], {
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill());
  return {
    type: (line: string) => void child.stdin.write(`${line}\n`),
    endInput: () => child.stdin.end(),
    interrupt: () => void child.kill('SIGINT'),
    output: () => written.stdout,
    notes: () => written.stderr,
    /** Waits until the text has been printed. */
    sees,
    ended: ended.then(({ code }) => code),
  };
}
