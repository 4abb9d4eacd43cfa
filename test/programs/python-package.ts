/**
 * A package for Python, in an environment of its own in the user's cache. Where there is no Python, or no way to install
 * it, that is said, and no more: nothing else of the project needs Python.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../scripts/setup/tools.mjs';

export type Python = { kind: 'ready'; executable: string } | { kind: 'missing'; why: string };

const run = promisify(execFile);

export async function pythonWith(name: string, version: string, ...more: string[]): Promise<Python> {
  try {
    // Wheels are made for one version on one platform.
    const { stdout } = await run('python3', [
      '-c',
      'import sys, platform; print(sys.version, platform.platform())',
    ]);
    const kind = createHash('sha256')
      .update([stdout, ...more].join())
      .digest('hex')
      .slice(0, 12);
    const folder = path.join(cacheFolder, `python-${name}`, `${version}-${kind}`);
    if (!existsSync(folder)) await install(folder, [`${name}==${version}`, ...more]);
    return { kind: 'ready', executable: executableIn(folder) };
  } catch (error) {
    return { kind: 'missing', why: `Python's ${name} ${version} cannot be installed: ${lastLine(error)}` };
  }
}

/** Made elsewhere and moved: half an environment is never found, and the second of two is thrown away. */
async function install(folder: string, requirements: string[]): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.`);
  try {
    await run('python3', ['-m', 'venv', draft]);
    const pip = [
      '-m',
      'pip',
      'install',
      '--disable-pip-version-check',
      '--retries',
      '1',
      '--only-binary',
      ':all:',
    ];
    await run(executableIn(draft), [...pip, ...requirements]);
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function executableIn(folder: string): string {
  return process.platform === 'win32'
    ? path.join(folder, 'Scripts', 'python.exe')
    : path.join(folder, 'bin', 'python');
}

function lastLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error && String(error.stderr).trim();
  return (said || String(error)).split('\n').at(-1) ?? '';
}
