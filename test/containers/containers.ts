/**
 * `npm run test:containers`: builds the Dockerfile, and checks the image's size, its bill of materials and that it runs with a
 * read-only root. Ends with 1 if a check fails. Without an engine, it says that it is skipped.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeStandIns } from './stand-ins.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const megabyte = 1_000_000;
const largest = 400;
const say = (line: string) => void process.stdout.write(`${line}\n`);

// The classic builder: BuildKit's client is a plugin that not every engine has.
const environment: NodeJS.ProcessEnv = { ...process.env, DOCKER_BUILDKIT: '0' };
/** A copy of the checkout. */
const checkout = await mkdtemp(path.join(tmpdir(), 'interlude-containers-'));
const call = async (program: string, options: string[]) =>
  (await run(program, options, { cwd: checkout, env: environment, maxBuffer: 2 ** 28 })).stdout;
const docker = (...options: string[]) => call('docker', options);

async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  say(`${what}: ${Math.round((performance.now() - from) / 1000)} s`);
  return result;
}

async function main(): Promise<void> {
  const hasEngine = await docker('info').then(Boolean, () => false);
  if (!hasEngine) return say('Skipped: there is no Docker engine.');
  await copyCheckout();
  const made = await step('base image', () => makeStandIns(docker, path.join(checkout, 'build')));
  say(`stand-ins: ${made.join(', ') || 'none'}`);
  try {
    await checkImage();
  } finally {
    // A later build would take them for the real ones.
    for (const image of made) await docker('rmi', '--no-prune', image);
  }
}

async function checkImage(): Promise<void> {
  await step('image', () => docker('build', '--network', 'host', '--tag', 'interlude', '.'));
  const size = Math.round(
    Number(await docker('image', 'inspect', '--format', '{{.Size}}', 'interlude')) / megabyte,
  );
  say(`image: ${size} MB`);
  assert(size <= largest, `the image has ${size} MB, and at most ${largest} are allowed`);
  const bill = await docker('run', '--rm', '--read-only', 'interlude', 'cat', 'sbom.cdx.json');
  say(`bill of materials: ${(JSON.parse(bill) as { components: [] }).components.length} packages`);
  const version = await docker(
    'run',
    '--rm',
    '--read-only',
    '--tmpfs',
    '/tmp',
    'interlude',
    'interlude',
    '--version',
  );
  say(`with a read-only root, it runs: ${version.trim()}`);
}

async function copyCheckout(): Promise<void> {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const { stdout } = await run('git', options, { cwd: root, maxBuffer: 2 ** 26 });
  for (const name of stdout.split('\0').filter(Boolean))
    await cp(path.join(root, name), path.join(checkout, name));
  await mkdir(path.join(checkout, 'build'));
}

try {
  await main();
} finally {
  await rm(checkout, { recursive: true, force: true });
}
