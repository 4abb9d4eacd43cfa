/**
 * Stand-ins for the images that the Dockerfile and docker-compose.yml name, where an engine neither has nor can pull them:
 * made of Debian's packages, Node and npm from npm's registry, and programs built from their Go modules.
 */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readTools } from '../../scripts/setup/tools.mjs';
import { goTool } from '../programs/built-program.ts';
import type { BuiltProgram } from '../programs/built-program.ts';
import { onPath } from '../programs/find-program.ts';
import { findPrometheus } from '../programs/prometheus.ts';

const run = promisify(execFile);
const debian = 'interlude-test/debian';
const certificates = '/etc/ssl/certs/ca-certificates.crt';

const standIns = {
  'node:24-slim': 'node',
  'caddy:2.10': 'caddy',
  'postgres:17': 'postgres',
  'temporalio/server:1.31.0': 'temporal-server',
  'temporalio/admin-tools:1.31.0': 'temporal-tools',
  'prom/prometheus:v3.7.3': 'prometheus',
  'otel/opentelemetry-collector:0.139.0': 'collector',
};

/** What the images run, by name. Those in Go are built once, which takes a quarter of an hour. */
async function programs(): Promise<[string, string][]> {
  const { temporal } = readTools();
  if (temporal === undefined) throw new Error('Run node scripts/setup.mjs temporal');
  const metrics = await findPrometheus();
  if (metrics.kind === 'missing') throw new Error(`No Prometheus: ${metrics.why}`);
  const ofServer = (name: string, command: string) =>
    goTool('temporal-server', name, { goPackage: `go.temporal.io/server/cmd/${command}` });
  const built: [string, BuiltProgram][] = [
    ['temporal-server', await ofServer('temporal-server', 'server')],
    ['temporal-sql-tool', await ofServer('temporal-sql-tool', 'tools/sql')],
    ['otel-collector', await goTool('otel-collector', 'otel-collector')],
  ];
  return [
    ['temporal', temporal],
    ['prometheus', metrics.prometheus],
    ['promtool', metrics.promtool],
    ...built.map(([name, program]): [string, string] => {
      if ('missing' in program) throw new Error(`No ${name}: ${program.missing}`);
      return [name, program.executable];
    }),
  ];
}

/** The folder of its module, which brings the schemas. */
async function temporalModule(): Promise<string> {
  const cwd = path.join(import.meta.dirname, '../programs/temporal-server');
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', 'go.temporal.io/server'], { cwd });
  return stdout.trim();
}

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
  for (const [name, executable] of await programs()) await copyFile(executable, path.join(context, name));
  await cp(path.join(await temporalModule(), 'schema'), path.join(context, 'schema'), { recursive: true });
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
