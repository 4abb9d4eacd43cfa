/**
 * A project that has the packages installed: built, packed and unpacked as npm does it, beside the dependencies that they
 * need. No network.
 */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const modules = path.join(root, 'node_modules');

export const packageNames = ['client', 'kit', 'program', 'tools', 'widget'] as const;
export type PackageName = (typeof packageNames)[number];

export interface Manifest {
  bin?: Record<string, string>;
  exports: Record<string, { types: string; default: string }>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, unknown>;
}

export interface Installed {
  /** Its folder. */
  home: string;
  manifest: Manifest;
  /** Everything in the tarball. */
  files: string[];
}

export interface Project {
  folder: string;
  packages: Record<PackageName, Installed>;
  remove(): Promise<void>;
}

/** `others` are installed beside them, as their user would have them. */
export async function installPackages(others: string[] = []): Promise<Project> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-package-'));
  const built = path.join(folder, 'built');
  await run(process.execPath, [path.join(root, 'scripts/build.mjs'), built], { cwd: root, env: withTools() });
  const installed = path.join(folder, 'node_modules');
  for (const name of others) link(name, installed);
  const packages = await Promise.all(
    packageNames.map(async (name) => [name, await install(name, { built, installed, folder })] as const),
  );
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  cpSync(path.join(root, 'test/fixtures/package'), folder, { recursive: true });
  const remove = () => rm(folder, { recursive: true, force: true });
  return { folder, packages: Object.fromEntries(packages) as Project['packages'], remove };
}

async function install(
  name: PackageName,
  { built, installed, folder }: { built: string; installed: string; folder: string },
): Promise<Installed> {
  const tarball = await pack(path.join(built, name), folder);
  const home = path.join(installed, '@interlude-ai', name);
  mkdirSync(home, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
  const manifest = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as Manifest;
  const required = Object.keys(manifest.peerDependencies).filter(
    (peer) => !(peer in manifest.peerDependenciesMeta),
  );
  for (const needed of [...Object.keys(manifest.dependencies), ...required]) link(needed, installed);
  // As npm links programs.
  for (const [program, file] of Object.entries(manifest.bin ?? {})) {
    chmodSync(path.join(home, file), 0o755);
    mkdirSync(path.join(installed, '.bin'), { recursive: true });
    symlinkSync(path.join('../@interlude-ai', name, file), path.join(installed, '.bin', program));
  }
  const { stdout } = await run('tar', ['-tzf', tarball]);
  return { home, manifest, files: stdout.trim().split('\n') };
}

function link(name: string, installed: string): void {
  const to = path.join(installed, name);
  if (existsSync(to)) return;
  mkdirSync(path.dirname(to), { recursive: true });
  symlinkSync(path.join(modules, name), to);
}

/** Installs the package of the service and returns its folder. */
export async function installService(folder: string, others: string[]): Promise<string> {
  const built = path.join(folder, 'built');
  await run(process.execPath, [path.join(root, 'scripts/build-service.mjs'), built], {
    cwd: root,
    env: withTools(),
  });
  const home = path.join(folder, 'node_modules/@interlude-ai/service');
  mkdirSync(home, { recursive: true });
  await run('tar', ['-xzf', await pack(built, folder), '--strip-components=1', '-C', home]);
  const manifest = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as Manifest;
  for (const name of [...Object.keys(manifest.dependencies), ...others])
    link(name, path.join(folder, 'node_modules'));
  return home;
}

/** The tarball of a folder with a package.json. */
async function pack(from: string, to: string): Promise<string> {
  const args = ['pack', from, '--pack-destination', to, '--ignore-scripts', '--offline', '--json'];
  const { stdout } = await run('npm', args, { cwd: to });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  if (!packed) throw new Error(`npm packed nothing: ${stdout}`);
  return path.join(to, packed.filename);
}

/** Programs of this repository, found first. */
export function withTools(): NodeJS.ProcessEnv {
  const bin = path.join(modules, '.bin');
  return { ...process.env, PATH: [bin, process.env['PATH']].join(path.delimiter) };
}
