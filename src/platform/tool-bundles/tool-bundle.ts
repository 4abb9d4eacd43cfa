/**
 * The bundle of a folder of tools: everything that is needed to run them, independent of the folder. It is cached in a file
 * in the folder itself, so that it is deployed with it, and used until one of its inputs changes. It is trusted as much as
 * the code beside it.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AuthorActivity } from '../../activities/durable-tools/effects.ts';
import type { PlainTool } from '../../turn/tool-code.ts';
import type { ToolDescription } from '@interlude-ai/tools/describe-tools.ts';
import type { ToolFiles } from '@interlude-ai/tools/bundle/tool-files.ts';

export interface ToolBundle {
  /** Identifies the code: the same on every machine and in every folder. */
  hash: string;
  /** A module without Temporal's SDK that exports the workflow `durableTool`, and `interceptors`. Empty if no tool asks. */
  workflows: string;
  /** A self-contained module for Node that exports `activities`, and `tools` that ask nothing. Empty if there are none. */
  node: string;
  manifest: ToolDescription[];
  /** Files that send users to pages, as far as the source shows it. */
  pages?: readonly string[];
}

export interface AuthorCode {
  activities: Map<string, AuthorActivity>;
  tools: Map<string, PlainTool>;
}

const bundleFile = '.interlude-bundle.json';
const root = path.resolve(import.meta.dirname, '../../..');
/** What the service is built with: the installed package has no lockfile, and exact versions. */
const versions = path.join(
  root,
  existsSync(path.join(root, 'package-lock.json')) ? 'package-lock.json' : 'package.json',
);
const lockfiles = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'package.json'];

/** Increase it when `ToolBundle` changes. */
const currentFormat = 3;

interface Kept {
  format?: number;
  /** The folder's modules: the hashes alone would not show that a file was added. */
  modules: string[];
  /** Hashes of its files: the author's by path from the folder, the service's by path from its root. */
  authored: Record<string, string>;
  runtime: Record<string, string>;
  /** Hash of the author's lockfile, in the folder or above it: packages change only together with it. */
  packages: string;
  bundle: ToolBundle;
}

interface Inputs {
  authored: string[];
  runtime: string[];
}

/** Undefined if there is none, or if one of its inputs has changed. */
export async function readKeptBundle(files: ToolFiles): Promise<ToolBundle | undefined> {
  try {
    const kept = JSON.parse(await readFile(path.join(files.folder, bundleFile), 'utf8')) as Kept;
    if (kept.format !== currentFormat || kept.modules.join('/') !== modulesOf(files).join('/'))
      return undefined;
    const isSame = await Promise.all([
      isUnchanged(files.folder, kept.authored),
      isUnchanged(root, kept.runtime),
      hashOfPackages(files.folder).then((hash) => hash === kept.packages),
    ]);
    return isSame.every(Boolean) ? kept.bundle : undefined;
  } catch {
    return undefined;
  }
}

/** `startedAt`: when the bundle was begun, in milliseconds since 1970. */
export async function keepBundle(
  files: ToolFiles,
  bundle: ToolBundle,
  inputs: Inputs,
  startedAt: number,
): Promise<void> {
  const { folder } = files;
  const kept: Kept = {
    format: currentFormat,
    modules: modulesOf(files),
    authored: await hashesOf(folder, inputs.authored),
    runtime: await hashesOf(root, [...inputs.runtime, versions]),
    packages: await hashOfPackages(folder),
    bundle,
  };
  const read = [...inputs.authored, ...inputs.runtime, versions, lockfileOf(folder) ?? []].flat();
  if (await haveChanged(read, startedAt)) return;
  const draft = path.join(folder, `${bundleFile}.${process.pid}`);
  try {
    await writeFile(draft, JSON.stringify(kept));
    await rename(draft, path.join(folder, bundleFile));
  } catch {
    // The folder is read-only: the tools are bundled again at the next start.
  }
}

function modulesOf({ modules, activities = '' }: ToolFiles): string[] {
  return [...modules, activities];
}

function lockfileOf(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const found = lockfiles.map((name) => path.join(at, name)).find((file) => existsSync(file));
    if (found !== undefined || at === path.dirname(at)) return found;
  }
}

async function hashOfPackages(folder: string): Promise<string> {
  const lockfile = lockfileOf(folder);
  return lockfile === undefined ? '' : hashOfFile(path.dirname(lockfile), path.basename(lockfile));
}

/** The hash of each file, by its path from `base`. */
export async function hashesOf(base: string, files: string[]): Promise<Record<string, string>> {
  const names = [...new Set(files)]
    .map((file) => path.relative(base, file).replaceAll(path.sep, '/'))
    .toSorted();
  const entries = await Promise.all(names.map(async (name) => [name, await hashOfFile(base, name)] as const));
  return Object.fromEntries(entries);
}

/** Linux takes the time of a change from its last tick. */
const tickMs = 10;

/** Since `startedAt`, in milliseconds since 1970. The hashes may then be of later contents than what was bundled. */
export async function haveChanged(files: string[], startedAt: number): Promise<boolean> {
  const changes = await Promise.all(files.map(async (file) => (await stat(file)).ctimeMs));
  return changes.some((at) => at >= startedAt - tickMs);
}

export async function isUnchanged(base: string, hashes: Record<string, string>): Promise<boolean> {
  const names = Object.keys(hashes);
  const now = await Promise.all(names.map((name) => hashOfFile(base, name)));
  return names.length > 0 && now.every((hash, index) => hash === hashes[names[index] ?? '']);
}

async function hashOfFile(base: string, name: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path.join(base, name)))
    .digest('hex');
}
