/** The first way to a Temporal server: the SDK's own download. */
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { run, say, timed } from './steps.mjs';
import { root } from './tools.mjs';

/**
 * False when the download host cannot be reached; the caller has another way.
 * @param {'temporal' | 'time-skipping'} kind @param {string} version @param {string} target
 */
export async function downloadWithSdk(kind, version, target) {
  const folder = mkdtempSync(`${target}.download-`);
  const bin = path.join(root, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` };
  try {
    const script = [path.join(root, 'scripts/setup/download.mjs'), kind, version, folder];
    await timed(`downloading the ${kind} server ${version} with the Temporal SDK (once)`, () =>
      run('node', script, { env, timeout: 180_000 }),
    );
  } catch {
    say('the download is not reachable from here');
  }
  // The SDK writes one executable, even when starting it failed afterwards.
  const [file] = readdirSync(folder).filter((name) => !name.endsWith('.downloading'));
  if (file !== undefined) renameSync(path.join(folder, file), target);
  rmSync(folder, { recursive: true, force: true });
  return file !== undefined;
}
