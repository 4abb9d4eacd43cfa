/**
 * A project that has the package installed: built, packed and unpacked as npm does it, beside the dependencies it asks
 * for. No network.
 */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const modules = path.join(root, 'node_modules');

export interface Manifest {
  bin: Record<string, string>;
  exports: Record<string, { types: string; default: string }>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, unknown>;
}

export interface Project {
  folder: string;
  /** The installed package. */
  home: string;
  manifest: Manifest;
  /** Everything in the tarball. */
  files: string[];
  remove(): Promise<void>;
}

/** `others` are installed beside it, as its user would have them. */
export async function installPackage(others: string[] = []): Promise<Project> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-package-'));
  const built = path.join(folder, 'built');
  await run(process.execPath, [path.join(root, 'scripts/build.mjs'), built], { cwd: root, env: withTools() });
  const tarball = await pack(built, folder);
  const installed = path.join(folder, 'node_modules');
  const home = path.join(installed, 'interlude');
  mkdirSync(home, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
  const manifest = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as Manifest;
  const required = Object.keys(manifest.peerDependencies).filter(
    (name) => !(name in manifest.peerDependenciesMeta),
  );
  for (const name of new Set([...Object.keys(manifest.dependencies), ...required, ...others])) {
    mkdirSync(path.dirname(path.join(installed, name)), { recursive: true });
    symlinkSync(path.join(modules, name), path.join(installed, name));
  }
  // As npm links programs.
  for (const [name, file] of Object.entries(manifest.bin)) {
    chmodSync(path.join(home, file), 0o755);
    mkdirSync(path.join(installed, '.bin'), { recursive: true });
    symlinkSync(path.join('../interlude', file), path.join(installed, '.bin', name));
  }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  cpSync(path.join(root, 'test/fixtures/package'), folder, { recursive: true });
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const remove = () => rm(folder, { recursive: true, force: true });
  return { folder, home, manifest, files: stdout.trim().split('\n'), remove };
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
