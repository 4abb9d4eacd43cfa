/**
 * `npm run test:containers`: builds the Dockerfile, checks the image, and takes docker-compose.yml through an operator's days
 * (compose.ts). Says what it does and how long it takes; ends with 1 if something fails. Without an engine, it is skipped.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect, promisify } from 'node:util';
import { onPath } from '../programs/find-program.ts';
import { checkCompose } from './compose.ts';
import { makeStandIns } from './stand-ins.ts';
import { say, step } from './step.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const megabyte = 1_000_000;
const largest = 400;

/** A copy of the checkout: its `.env` and what is deployed are the test's. */
const checkout = await mkdtemp(path.join(tmpdir(), 'interlude-containers-'));
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  // The classic builder: BuildKit's client is a plugin that not every engine has.
  DOCKER_BUILDKIT: '0',
  COMPOSE_DOCKER_CLI_BUILD: '0',
};
const docker = async (...options: string[]) =>
  (await run('docker', options, { cwd: checkout, env: environment, maxBuffer: 2 ** 28 })).stdout;

async function main(stack: AsyncDisposableStack): Promise<void> {
  if (!(await succeeds('info'))) return say('Skipped: there is no Docker engine.');
  await copyCheckout();
  if (!(await hasCompose())) return say('Skipped: there is no Docker Compose.');
  for (const image of ['interlude', 'interlude:before']) stack.defer(await keepImage(image));
  const made: string[] = [];
  // A later build would take them for the real ones.
  stack.defer(async () => {
    for (const image of made) await succeeds('rmi', '--force', '--no-prune', image);
  });
  await step('base images', () => makeStandIns(docker, path.join(checkout, 'build'), made));
  say(`stand-ins: ${made.join(', ') || 'none'}`);
  await checkImage();
  await checkCompose({ docker, checkout, environment, stack });
}

const succeeds = (...options: string[]) => docker(...options).then(Boolean, () => false);

/** The tester may have deployed an image of this name. Returns a function that gives the name back to it. */
async function keepImage(name: string): Promise<() => Promise<void>> {
  const id = await docker('image', 'inspect', '--format', '{{.Id}}', name).catch(() => '');
  const giveBack = id === '' ? ['rmi', '--force', '--no-prune', name] : ['tag', id.trim(), name];
  return async () => void (await succeeds(...giveBack));
}

/** Compose 1 is another program: it gets the name of Compose 2. Without `--wait`, it replaces one API after the other, too. */
async function hasCompose(): Promise<boolean> {
  if (await succeeds('compose', 'version')) return true;
  const [engine, older] = [onPath(['docker']), onPath(['docker-compose'])];
  if (!engine || !older) return false;
  const folder = path.join(checkout, 'build/bin');
  await mkdir(folder);
  const words = `#!/bin/sh
[ "$1" = compose ] || exec ${engine} "$@"
shift
for word; do
  shift
  [ "$word" != --wait ] || word=--detach
  set -- "$@" "$word"
done
exec ${older} "$@"
`;
  await writeFile(path.join(folder, 'docker'), words);
  await chmod(path.join(folder, 'docker'), 0o755);
  environment['PATH'] = `${folder}:${environment['PATH']}`;
  return succeeds('compose', 'version');
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

/** Ctrl+C ends it, too, without a trace. It arrives twice, from the terminal and from npm. */
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => reject(new Error(`interrupted by ${signal}`)));
});
const stack = new AsyncDisposableStack();
stack.defer(() => rm(checkout, { recursive: true, force: true }));
try {
  await Promise.race([main(stack), interrupted]);
} catch (error) {
  say(inspect(error));
  process.exitCode = 1;
}
await stack.disposeAsync();
process.exit();
