/**
 * A package for Python, in an environment of its own in the user's cache. Where there is no Python, or no way to install
 * it, that is said, and no more: nothing else of the project needs Python.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { installInto } from '../../scripts/setup/steps.mjs';
import { cacheFolder } from '../../scripts/setup/tools.mjs';
import { lastLine } from './find-program.ts';

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
    if (!existsSync(folder))
      await installInto(folder, (draft) => install(draft, [`${name}==${version}`, ...more]));
    return { kind: 'ready', executable: executableIn(folder) };
  } catch (error) {
    return { kind: 'missing', why: `Python's ${name} ${version} cannot be installed: ${lastLine(error)}` };
  }
}

async function install(folder: string, requirements: string[]): Promise<void> {
  await run('python3', ['-m', 'venv', folder]);
  const quickly = ['--disable-pip-version-check', '--retries', '1', '--only-binary', ':all:'];
  await run(executableIn(folder), ['-m', 'pip', 'install', ...quickly, ...requirements]);
}

function executableIn(folder: string): string {
  return process.platform === 'win32'
    ? path.join(folder, 'Scripts', 'python.exe')
    : path.join(folder, 'bin', 'python');
}
