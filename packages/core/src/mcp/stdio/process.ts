/**
 * The process of a stdio server, started for one operation. It leads its own process group, so that all its children end
 * with it (`npx` starts a shell that starts node), and it never outlives our process.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { withTimeout } from '../../with-timeout.ts';
import { ConfigError } from '../../config-error.ts';

/** How a local server is started. `env` is its whole environment. */
export interface ServerProcess {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** A user other than our own. */
  runAs?: { uid: number; gid: number };
}

export interface ProcessExit {
  exitCode: number | null;
  signal: string | null;
  /** The size and the end of its standard error, which may contain secrets. */
  stderrBytes: number;
  stderrEnd: string;
  /** It ended by itself, or was stopped before it had sent any valid message. */
  isFailure: boolean;
}

/** Why a process gives no answer. */
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
  /** The worker may not start programs as that user. */
  | { kind: 'not-permitted-user'; uid: number }
  /** `code` is the system's error code. */
  | { kind: 'not-started'; code: string };

export interface RunningProcess {
  /** Rejects when the process does not accept the text. */
  write(text: string): Promise<void>;
  /** Closes its input, then sends SIGTERM, then SIGKILL. Resolves when the whole group has ended. */
  stop(): Promise<void>;
}

interface ProcessListener {
  onOutput(chunk: Buffer): void;
  onErrorOutput?(chunk: Buffer): void;
  /** Called once, after all its output has been read. */
  onEnd(failure: ProcessFailure, exit: Omit<ProcessExit, 'isFailure'> & { wasStopped: boolean }): void;
}

const maxStderrLength = 4_096;
const graceMs = 1_000;

const running = new Set<ChildProcessWithoutNullStreams>();
const hasGroups = process.platform !== 'win32';
let isHooked = false;

/** Rejects with a `ProcessFailure` when it cannot be started; nothing has to be stopped then. */
export async function startProcess(
  given: ServerProcess,
  { onOutput, onErrorOutput, onEnd }: ProcessListener,
): Promise<RunningProcess> {
  const child = await spawnChild(given);
  killOnExit(child);
  // Later failures show in its exit.
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
  // Children may keep its output open, and may even have left its group.
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
    // Node also drops supplementary groups when it changes the user.
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
  // The system reports the same code for a missing command and a missing folder.
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
    // The group has already ended.
  }
}

/** Kills processes that still run when ours exits. */
function killOnExit(child: ChildProcessWithoutNullStreams): void {
  running.add(child);
  if (isHooked) return;
  isHooked = true;
  process.once('exit', () => {
    for (const one of running) killGroup(one);
  });
}

type RunAs = NonNullable<ServerProcess['runAs']>;

interface Own {
  platform: NodeJS.Platform;
  /** Undefined on systems without user ids. */
  uid: number | undefined;
}

/**
 * Checks whether this worker can start servers as other users, and whether these can enter their folders. Only workers
 * check this: other processes read the same agents file with fewer rights. Throws a `ConfigError` that names each server it
 * cannot start.
 */
export function checkRunAs(
  servers: Iterable<{ name: string; process?: ServerProcess }>,
  { platform, uid }: Own = { platform: process.platform, uid: process.geteuid?.() },
): void {
  const problems = [...servers].flatMap(({ name, process: given }) => {
    if (!given?.runAs) return [];
    const at = `servers.${name}.uid`;
    if (platform === 'win32')
      return [`${at}: programs cannot be started as another user on Windows; remove uid and gid`];
    if (uid !== 0)
      return [
        `${at}: only root may start programs as another user, and this worker runs as user ${uid}; run it as root, or remove uid and gid`,
      ];
    const closed = closedFolder(given.cwd, given.runAs);
    if (closed === undefined) return [];
    return [
      `servers.${name}.cwd: user ${given.runAs.uid} may not enter ${closed}; change its permissions, or write another folder`,
    ];
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The first folder on the path to `folder` that the user may not enter. */
function closedFolder(folder: string, { uid, gid }: RunAs): string | undefined {
  const parent = path.dirname(folder);
  const before = parent === folder ? undefined : closedFolder(parent, { uid, gid });
  if (before !== undefined) return before;
  const stats = statSync(folder);
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0;
  return (stats.mode >> shift) & 1 ? undefined : folder;
}
