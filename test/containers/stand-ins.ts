/**
 * Stand-ins for the images that the Dockerfile and docker-compose.yml name, where an engine neither has nor can pull them:
 * made of Debian's packages, Node and npm from npm's registry, and Temporal's development server.
 */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readTools } from '../../scripts/setup/tools.mjs';
import { onPath } from '../programs/find-program.ts';

const run = promisify(execFile);
const debian = 'interlude-test/debian';
const certificates = '/etc/ssl/certs/ca-certificates.crt';

const standIns = {
  'node:24-slim': 'node',
  'caddy:2.10': 'caddy',
  'postgres:17': 'postgres',
  'temporalio/server:1.31.0': 'temporal-server',
  'temporalio/admin-tools:1.31.0': 'temporal-tools',
};

export type Docker = (...options: string[]) => Promise<string>;

/** Adds to `made` of which images it makes stand-ins. */
export async function makeStandIns(docker: Docker, folder: string, made: string[]): Promise<void> {
  const missing: string[] = [];
  for (const image of Object.keys(standIns)) if (!(await isThere(docker, image))) missing.push(image);
  if (missing.length === 0) return;
  if (!(await isMade(docker, debian))) await importDebian(docker, folder);
  const context = path.join(folder, 'stand-ins');
  await cp(path.join(import.meta.dirname, 'stand-ins'), context, { recursive: true });
  await copyFile(process.execPath, path.join(context, 'node'));
  await run('npm', ['pack', 'npm@11', '--pack-destination', folder]);
  await mkdir(path.join(context, 'npm'));
  await run(
    'sh',
    ['-c', `tar -xzf npm-11*.tgz -C "$1" --strip-components 1`, 'sh', path.join(context, 'npm')],
    {
      cwd: folder,
    },
  );
  const { temporal } = readTools();
  if (temporal === undefined) throw new Error('Run node scripts/setup.mjs temporal');
  await copyFile(temporal, path.join(context, 'temporal'));
  for (const image of missing) {
    const target = standIns[image as keyof typeof standIns];
    made.push(image);
    await docker('build', '--network', 'host', '--target', target, '--tag', image, context);
  }
}

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );
const isMade = (docker: Docker, image: string) => succeeds(docker('image', 'inspect', image));
const isThere = async (docker: Docker, image: string) =>
  (await isMade(docker, image)) || succeeds(docker('pull', '--quiet', image));

async function importDebian(docker: Docker, folder: string): Promise<void> {
  if (onPath(['debootstrap']) === undefined)
    throw new Error('Install debootstrap: apt-get install debootstrap');
  const root = path.join(folder, 'debian');
  const options = ['--variant=minbase', '--include=ca-certificates', 'bookworm', root];
  await run('debootstrap', options, { maxBuffer: 2 ** 26 });
  // A registry may be known only to an authority of this machine.
  await copyFile(certificates, path.join(root, certificates));
  for (const unused of [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
  ]) {
    await rm(path.join(root, unused), { recursive: true, force: true });
    await mkdir(path.join(root, unused));
  }
  const tar = path.join(folder, 'debian.tar');
  await run('tar', ['-cf', tar, '-C', root, '.']);
  await docker('import', '--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`, tar, debian);
  await rm(root, { recursive: true });
  await rm(tar);
}
