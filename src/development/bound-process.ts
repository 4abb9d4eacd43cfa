/**
 * Child processes that cannot outlive us, even when we are killed with -9. A watcher holds the read end of a pipe
 * whose only writer is this process: when the pipe closes, nobody is left, and the watcher kills the child. The child
 * replaces the shell that started the watcher, so `child.pid` is the program itself. Where there is no sh (Windows),
 * the child is an ordinary one.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';

const script = `
exec 3<&0
( trap '' INT TERM; while read -r _ <&3; do :; done; kill -KILL $$ ) >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-
`;

/** Standard output and error are pipes. The child has its own process group: Ctrl-C in the terminal is ours alone. */
export function spawnBound(command: string, args: string[], options: SpawnOptions = {}): ChildProcess {
  if (process.platform === 'win32')
    return spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const child = spawn('/bin/sh', ['-c', script, 'sh', command, ...args], {
    ...options,
    detached: true,
    stdio: 'pipe',
  });
  child.once('exit', () => child.stdin.destroy());
  child.stdin.on('error', () => undefined);
  return child;
}
