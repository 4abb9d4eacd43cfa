/** Everything that can be said about the code without running it. All of it is run, whatever fails first. */
import { spawnSync } from 'node:child_process';

/** @type {[name: string, command: string, ...args: string[]][]} */
const checks = [
  ['format', 'oxfmt', '--check'],
  ['lint', 'oxlint'],
  // Reads again only what has changed, and what depends on it; errors of other files are printed again.
  ['types', 'tsc', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/tsc.tsbuildinfo'],
  ['unused code', 'knip', '--no-progress', '--no-config-hints'],
  ['pictures of the documentation', 'node', 'scripts/picture-sources.mjs'],
  ['documentation and its links', 'vitepress', 'build', 'docs', '--logLevel', 'warn'],
];

const failed = [];
for (const [name, command, ...args] of checks) {
  const started = performance.now();
  console.log(`\n── ${name} ${'─'.repeat(60 - name.length)}`);
  // The site's build names every page: only a failure is worth reading.
  const stdio = command === 'vitepress' ? 'pipe' : 'inherit';
  const { status, output } = spawnSync(command, args, { stdio, shell: process.platform === 'win32' });
  if (status !== 0) for (const text of output) process.stderr.write(text ?? '');
  if (status !== 0) failed.push(name);
  console.log(`${status === 0 ? '✓' : '✗'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}

console.log(failed.length === 0 ? '' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
