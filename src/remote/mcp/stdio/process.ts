/**
 * A server that is a process of ours, started for one operation. It leads a process group of its own, so that whatever it
 * starts (`npx` starts a shell that starts node) ends with it; and nothing of it outlives our process.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { ServerProcess } from '../../../config/agents-file/server-config.ts';
import { withTimeout } from '../../../time/with-timeout.ts';
import type { ProcessExit } from '../../call-listener.ts';

/** Why a process says nothing (any more). */
export class ProcessFailure extends Error {
  override name = 'ProcessFailure';
  readonly reason: StartFailure | { kind: 'ended'; exitCode: number | null; signal: string | null };
  constructor(reason: ProcessFailure['reason']) {
    super(reason.kind);
    this.reason = reason;
  }
}

type StartFailure =
  | { kind: 'not-found' | 'not-executable' | 'no-folder' }
  /** This process may not start programs as that user. */
  | { kind: 'not-permitted-user'; uid: number }
  /** `code` is the system's. */
  | { kind: 'not-started'; code: string };

export interface RunningProcess {
  /** Resolves when the text was handed over; rejects when the process does not take it. */
  write(text: string): Promise<void>;
  /** Resolves when nothing of it is left. Its input ends first; then it gets SIGTERM, and then SIGKILL. */
  stop(): Promise<void>;
}

interface ProcessListener {
  onOutput(chunk: Buffer): void;
  /** What it writes to its standard error, for whoever looks on. */
  onErrorOutput?(chunk: Buffer): void;
  /** Called once, when everything it wrote has been read. */
  onEnd(failure: ProcessFailure, exit: Omit<ProcessExit, 'isFailure'> & { wasStopped: boolean }): void;
}

const maxStderrLength = 4_096;
const graceMs = 1_000;

const running = new Set<ChildProcessWithoutNullStreams>();
const hasGroups = process.platform !== 'win32';
let isHooked = false;

/** Rejects with a `ProcessFailure` when it cannot be started: then there is nothing to stop. */
export async function startProcess(
  given: ServerProcess,
  { onOutput, onErrorOutput, onEnd }: ProcessListener,
): Promise<RunningProcess> {
  const child = await spawnChild(given);
  killOnExit(child);
  // What fails from here on shows in its end.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);

  let wasStopped = false;
  let stderrBytes = 0;
  let stderrEnd = '';
  child.stderr.on('data', (chunk: Buffer) => {
    onErrorOutput?.(chunk);
    stderrBytes += chunk.byteLength;
    stderrEnd = (stderrEnd + chunk.toString('latin1')).slice(-maxStderrLength);
  });
  child.stdout.on('data', onOutput);
  // Whoever it started may hold on to its output, and even have left its group.
  child.once('exit', () => {
    killGroup(child);
    setTimeout(
      () => [child.stdout, child.stderr, child.stdin].map((pipe) => pipe.destroy()),
      graceMs,
    ).unref();
  });
  const hasEnded = new Promise<true>((resolve) => {
    child.once('close', (exitCode, signal) => {
      running.delete(child);
      const end = Buffer.from(stderrEnd, 'latin1').toString();
      onEnd(new ProcessFailure({ kind: 'ended', exitCode, signal }), {
        exitCode,
        signal,
        stderrBytes,
        stderrEnd: end,
        wasStopped,
      });
      resolve(true);
    });
  });
  const endsWithin = (ms: number) => withTimeout(hasEnded, ms, false, { ref: false });

  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        child.stdin.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    async stop() {
      wasStopped = true;
      child.stdin.end();
      if (await endsWithin(graceMs)) return;
      killGroup(child, 'SIGTERM');
      if (await endsWithin(graceMs)) return;
      killGroup(child);
      await hasEnded;
    },
  };
}

async function spawnChild(given: ServerProcess): Promise<ChildProcessWithoutNullStreams> {
  const { command, args, cwd, env, runAs } = given;
  const options = { cwd, env, stdio: 'pipe', detached: hasGroups, windowsHide: true } as const;
  try {
    // With another user, Node gives up supplementary groups as well.
    const child = spawn(command, args, { ...options, ...runAs });
    await once(child, 'spawn');
    return child;
  } catch (error) {
    // Some errors are thrown, others are emitted.
    throw new ProcessFailure(startFailureOf(error as NodeJS.ErrnoException, given));
  }
}

function startFailureOf(
  { code = 'unknown' }: NodeJS.ErrnoException,
  { cwd, runAs }: ServerProcess,
): StartFailure {
  if (code === 'EPERM' && runAs) return { kind: 'not-permitted-user', uid: runAs.uid };
  // The system says the same of a missing command and of a missing folder.
  if (code === 'ENOENT') return { kind: existsSync(cwd) ? 'not-found' : 'no-folder' };
  return code === 'EACCES' ? { kind: 'not-executable' } : { kind: 'not-started', code };
}

function killGroup(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals = 'SIGKILL'): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (hasGroups) process.kill(-pid, signal);
    else child.kill(signal);
  } catch {
    // The group is gone.
  }
}

/** Processes that still run when ours exits are killed. */
function killOnExit(child: ChildProcessWithoutNullStreams): void {
  running.add(child);
  if (isHooked) return;
  isHooked = true;
  process.once('exit', () => {
    for (const one of running) killGroup(one);
  });
}
