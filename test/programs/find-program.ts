/**
 * A program of this machine, else Debian's with the missing libraries, unpacked into its own folder: nothing is installed,
 * and root is not needed. Where it is not available, the reason is returned.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { glob, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { installInto } from '../../scripts/setup/steps.mjs';

/** The first of these programs that this machine has. */
export function onPath(names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Program {
  /** A variable with its path. */
  given: string;
  /** On the PATH. */
  names: string[];
  /** Debian's; further ones, separated by spaces, bring libraries. */
  package: string;
  /** Within the package: what is on the path there is a script, which looks for it where it would be installed. */
  executable: string;
  /** What makes it print its version; `--version` by default. */
  version?: string;
}

export type Found =
  /** `isOwn`: the machine's, so that it has to work. */
  | { kind: 'ready'; executable: string; env: NodeJS.ProcessEnv; isOwn: boolean }
  | { kind: 'missing'; why: string };

const cache = path.resolve(import.meta.dirname, '../../node_modules/.cache');
const fetchingMs = 120_000;
const run = promisify(execFile);

export async function findProgram(program: Program): Promise<Found> {
  const given = process.env[program.given];
  // A given path must work.
  if (given !== undefined) return { kind: 'ready', executable: given, env: {}, isOwn: true };
  const own = onPath(program.names);
  if (own !== undefined && (await works(own, {}, program.version)))
    return { kind: 'ready', executable: own, env: {}, isOwn: true };
  try {
    const folder = path.join(cache, `debian-${program.package.replaceAll(' ', '-')}`);
    if (!existsSync(folder)) await installInto(folder, (draft) => unpack(program.package, draft));
    const executable = path.join(folder, program.executable);
    const env = { LD_LIBRARY_PATH: await librariesIn(folder) };
    return (await works(executable, env, program.version))
      ? { kind: 'ready', executable, env, isOwn: false }
      : { kind: 'missing', why: `Debian's ${program.package} does not run here` };
  } catch (error) {
    return { kind: 'missing', why: `Debian's ${program.package} cannot be fetched: ${lastLine(error)}` };
  }
}

/** What is on the PATH may be only a hint on how to install it. */
async function works(executable: string, env: NodeJS.ProcessEnv, version = '--version'): Promise<boolean> {
  const asked = run(executable, [version], { env: { ...process.env, ...env }, timeout: 20_000 });
  return asked.then(
    () => true,
    () => false,
  );
}

async function unpack(name: string, folder: string): Promise<void> {
  const signal = AbortSignal.timeout(fetchingMs);
  const plan = await run(
    'apt-get',
    ['--simulate', '--no-install-recommends', 'install', ...name.split(' ')],
    { signal },
  );
  const packages = [...plan.stdout.matchAll(/^Inst (\S+) (?:\[\S+\] )?\((\S+) /gm)];
  if (packages.length === 0) throw new Error('there is nothing to fetch');
  const wanted = packages.map(([, one, version]) => `${one}=${version}`);
  await run('apt-get', ['download', ...wanted], { cwd: folder, signal });
  for (const file of await readdir(folder)) {
    await run('dpkg-deb', ['--extract', file, '.'], { cwd: folder, signal });
    await rm(path.join(folder, file));
  }
}

/** Some have a folder of their own, which the installed ones know. */
async function librariesIn(folder: string): Promise<string> {
  const folders = new Set<string>();
  for await (const library of glob('{usr/,}lib/*-linux-gnu/**/*.so*', { cwd: folder }))
    folders.add(path.join(folder, path.dirname(library)));
  return [...folders].join(path.delimiter);
}

export function lastLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error && String(error.stderr).trim();
  return (said || String(error)).split('\n').at(-1) ?? '';
}
