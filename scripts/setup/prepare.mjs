/**
 * Makes a fresh checkout ready, as far as it is needed. Plain Node 20 without packages, because it is what installs the
 * packages and the newer Node.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { installDependencies } from './dependencies.mjs';
import { say, SetupError } from './steps.mjs';
import { installTemporalCli } from './temporal-cli.mjs';
import { root } from './tools.mjs';

/**
 * Takes a moment and prints nothing if everything is there. False when something cannot be had; a message says what, and what
 * to do.
 * @param {string[]} tools `temporal`, `time-skipping`: besides packages and Node
 */
export async function prepare(tools) {
  try {
    // npm has installed those of the package, which has no lockfile.
    if (existsSync(path.join(root, 'package-lock.json'))) await installDependencies();
    // Running needs no development server beside a cluster of one's own; the tests do.
    if (tools.includes('time-skipping') || (tools.includes('temporal') && !process.env.TEMPORAL_ADDRESS))
      await installTemporalCli();
    if (tools.includes('time-skipping')) {
      const { installTemporalTestServer } = await import('./temporal-test-server.mjs');
      await installTemporalTestServer();
    }
    return true;
  } catch (error) {
    say(inWords(error));
    process.exitCode = 1;
    return false;
  }
}

/** Without a stack trace, also for errors that no step has expected. @param {unknown} error */
function inWords(error) {
  if (!(error instanceof Error)) return String(error);
  const { code, path: file } = /** @type {NodeJS.ErrnoException} */ (error);
  if (error instanceof SetupError || file === undefined) return error.message;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${file} cannot be read or written by this user (${code}); give this user the rights, or use a copy of your own`;
    case 'ENOSPC':
      return `the disk is full (${file}); make room and run the command again`;
    default:
      return error.message;
  }
}
