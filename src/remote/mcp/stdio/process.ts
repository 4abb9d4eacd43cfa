/**
 * A server that is a process of ours, for one operation. It leads a process group of its own, so that whatever it
 * starts (`npx` starts a shell that starts node) ends with it; and nothing of it outlives ours.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../../../config/agents-file/server-config.ts';

/** Why a process says nothing (any more). */
export class ProcessTrouble extends Error {
  override name = 'ProcessTrouble';
  readonly what: StartTrouble | { kind: 'ended'; exitCode: number | null; signal: string | null };
  constructor(what: ProcessTrouble['what']) {
    super(what.kind);
    this.what = what;
  }
}

type StartTrouble =
  | { kind: 'not-found' | 'not-executable' | 'no-folder' }
  /** `code` is the system's. */
  | { kind: 'not-started'; code: string };

/** What is left to say of a process that has ended. */
export interface ProcessReport {
  exitCode: number | null;
  signal: string | null;
  /** How much it wrote to its standard error, and how that ended: whatever its author wanted to say, secrets included. */
  stderrBytes: number;
  stderrEnd: string;
  /** It ended by itself, or had to be ended without having said anything that we understand. */
  isFailure: boolean;
}

export interface RunningProcess {
  /** Resolves when the text was handed over; rejects when there is nobody to take it. */
  write(text: string): Promise<void>;
  /** Resolves when nothing of it is left. Says goodbye first: its input ends, and then it is told to stop, and made to. */
  stop(): Promise<void>;
}

interface Watch {
  onOutput(chunk: Buffer): void;
  /** Called once, when everything it wrote has been heard. */
  onEnd(trouble: ProcessTrouble, report: Omit<ProcessReport, 'isFailure'> & { wasTold: boolean }): void;
}

const stderrKept = 4_096;
const stepMs = 1_000;

const running = new Set<ChildProcessWithoutNullStreams>();
const hasGroups = process.platform !== 'win32';
let isHooked = false;

/** Rejects with a `ProcessTrouble` when it cannot be started: then there is nothing to stop. */
export async function startProcess(
  { command, args, cwd, env }: ServerProcess,
  { onOutput, onEnd }: Watch,
): Promise<RunningProcess> {
  const child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: hasGroups, windowsHide: true });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => reject(new ProcessTrouble(whyNot(error, cwd))));
  });
  keepAccount(child);
  // What fails from here on shows in its end.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);

  let wasTold = false;
  let stderrBytes = 0;
  let stderrEnd = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderrBytes += chunk.byteLength;
    stderrEnd = (stderrEnd + chunk.toString('latin1')).slice(-stderrKept);
  });
  child.stdout.on('data', onOutput);
  // Whoever it started may hold on to its output, and even have left its group.
  child.once('exit', () => {
    killGroup(child);
    setTimeout(() => [child.stdout, child.stderr, child.stdin].map((pipe) => pipe.destroy()), stepMs).unref();
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', (exitCode, signal) => {
      running.delete(child);
      const end = Buffer.from(stderrEnd, 'latin1').toString();
      onEnd(new ProcessTrouble({ kind: 'ended', exitCode, signal }), {
        exitCode,
        signal,
        stderrBytes,
        stderrEnd: end,
        wasTold,
      });
      resolve();
    });
  });
  const endsWithin = (ms: number) => Promise.race([ended.then(() => true), sleep(ms, false, { ref: false })]);

  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        child.stdin.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    async stop() {
      wasTold = true;
      child.stdin.end();
      if (await endsWithin(stepMs)) return;
      killGroup(child, 'SIGTERM');
      if (await endsWithin(stepMs)) return;
      killGroup(child);
      await ended;
    },
  };
}

function whyNot({ code = 'unknown' }: NodeJS.ErrnoException, cwd: string): StartTrouble {
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
    // Nobody is left.
  }
}

/** Those that are still there when we end, end with us. */
function keepAccount(child: ChildProcessWithoutNullStreams): void {
  running.add(child);
  if (isHooked) return;
  isHooked = true;
  process.once('exit', () => {
    for (const one of running) killGroup(one);
  });
}
