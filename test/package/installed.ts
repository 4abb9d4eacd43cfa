/** A project that has the packages installed: built, packed, and installed by npm from a registry of their own. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { npmProgram } from '../programs/npm-program.ts';
import { startRegistry } from './registry.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** All but the service, by their folders. */
export const packageNames = ['client', 'init', 'kit', 'program', 'tools', 'widget'] as const;
export type PackageName = (typeof packageNames)[number];

export interface Manifest {
  name: string;
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
  await using built = await buildPackages('packages');
  return await installAll(built, others);
}

export async function installAll(built: Built, others: string[]): Promise<Project> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-package-'));
  const packages = packageNames.map((name) => [name, built.packageOf(name)] as const);
  await built.install(folder, [...packages.map(([, { manifest }]) => manifest.name), ...others]);
  cpSync(path.join(root, 'test/fixtures/package'), folder, { recursive: true });
  return {
    folder,
    packages: Object.fromEntries(
      packages.map(([name, { manifest, files }]) => {
        const home = path.join(folder, 'node_modules', manifest.name);
        return [name, { home, manifest, files }];
      }),
    ) as Project['packages'],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Installs the package of the service and returns its folder. */
export async function installService(folder: string, others: string[]): Promise<string> {
  await using built = await buildPackages('service');
  const { name } = built.packageOf('service').manifest;
  await built.install(folder, [name, ...others]);
  return path.join(folder, 'node_modules', name);
}

export interface Built {
  /** What npm gets as its environment to install from the registry. */
  environment: Record<string, string>;
  /** By its folder in `dist`. */
  packageOf(name: string): { manifest: Manifest; files: string[] };
  /** Makes a project of the folder, with these packages. */
  install(folder: string, names: string[], ...options: string[]): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The test runners of docs/testing-agents.md that the checkout does not have itself. */
const runners = { jest: '30.5.2', mocha: '12.0.3', ava: '7.0.0' };

/** Builds and packs them, and serves the tarballs in a registry; `runners` are served beside them. */
export async function buildPackages(...parts: ('packages' | 'service' | 'runners')[]): Promise<Built> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-built-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const names: string[] = [];
  const build = (script: string, to: string) =>
    run(process.execPath, [path.join(root, 'scripts', script), to], { cwd: root, env: withTools() });
  if (parts.includes('packages')) {
    await build('build.mjs', folder);
    names.push(...packageNames);
  }
  if (parts.includes('service')) {
    await build('build-service.mjs', path.join(folder, 'service'));
    names.push('service');
  }
  const packed = new Map(
    await Promise.all(
      names.map(async (name) => [name, await pack(path.join(folder, name), folder)] as const),
    ),
  );
  const others = parts.includes('runners')
    ? await Promise.all(Object.entries(runners).map(([name, version]) => npmProgram(name, version)))
    : [];
  const registry = await startRegistry(
    [...packed].map(([name, { tarball }]) => ({ folder: path.join(folder, name), tarball })),
    others.map((home) => path.resolve(home, '../..')),
  );
  stack.defer(() => registry.stop());
  const held = stack.move();
  return {
    environment: {
      npm_config_registry: registry.origin,
      npm_config_cache: path.join(folder, 'cache'),
      npm_config_ignore_scripts: 'true',
    },
    packageOf(name) {
      const { files } = packed.get(name) ?? {};
      if (!files) throw new Error(`The package ${name} was not built.`);
      const text = readFileSync(path.join(folder, name, 'package.json'), 'utf8');
      return { manifest: JSON.parse(text) as Manifest, files };
    },
    async install(project, wanted, ...options) {
      mkdirSync(project, { recursive: true });
      writeFileSync(path.join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
      const cache = path.join(folder, 'cache');
      const fixed = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=0', `--cache=${cache}`];
      const args = ['install', `--registry=${registry.origin}`, ...fixed, ...options, ...wanted];
      await run('npm', args, { cwd: project, env: withTools() });
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function pack(from: string, to: string): Promise<{ tarball: string; files: string[] }> {
  const args = ['pack', from, '--pack-destination', to, '--ignore-scripts', '--offline', '--json'];
  const { stdout } = await run('npm', args, { cwd: to, maxBuffer: 1e8 });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (!packed) throw new Error(`npm packed nothing: ${stdout}`);
  return { tarball: path.join(to, packed.filename), files: packed.files.map((file) => file.path) };
}

/** Programs of this repository, found first. */
export function withTools(): NodeJS.ProcessEnv {
  const bin = path.join(root, 'node_modules/.bin');
  return { ...process.env, PATH: [bin, process.env['PATH']].join(path.delimiter) };
}
