/** A program as a process of its own, and what it has written. */
import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessWithoutNullStreams, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createWaiting } from '../waiting.ts';

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type RunningProgram = ReturnType<typeof follow>;

export function startProgram(command: string, args: string[], options: SpawnOptions = {}): RunningProgram {
  return follow(spawn(command, args, { ...options, stdio: 'pipe' }), command);
}

/** Of a process that was started with pipes. */
export function follow(started: ChildProcess, name: string) {
  const child = started as ChildProcessWithoutNullStreams;
  const waiting = createWaiting();
  const written = { stdout: '', stderr: '', both: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
      written.both += text;
      waiting.wake();
    });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }) as End);
  ended.then(
    ({ code, signal }) =>
      waiting.end(() => new Error(`${name} ended with ${code ?? signal}:\n${written.both}`)),
    (error: Error) => waiting.end(() => error),
  );
  return {
    child,
    pid: child.pid ?? 0,
    written,
    ended,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    /** Resolves when it has written this; rejects when it ends without it. */
    sees: async (wanted: string | RegExp): Promise<void> => {
      const isThere = () =>
        typeof wanted === 'string' ? written.both.includes(wanted) : wanted.test(written.both);
      await waiting.until(isThere);
    },
    /** Resolves when it is gone. */
    async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<End> {
      child.kill(signal);
      return ended;
    },
  };
}
