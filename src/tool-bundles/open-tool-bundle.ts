/** The bundle of a folder of tools: the one kept in it while nothing has changed, else made anew, because that takes seconds. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { bundleActivities } from './bundle-code.ts';
import { bundleToolWorkflows } from './bundle-workflows.ts';
import { keepBundle, readKeptBundle } from './kept-bundle.ts';
import { readManifest } from './read-manifest.ts';
import type { ToolBundle } from './tool-bundle.ts';
import { findToolFiles } from './tool-files.ts';
import type { ToolFiles } from './tool-files.ts';

/** Throws `ToolFolderError`, which names everything that is wrong with the folder. */
export async function openToolBundle(folder: string): Promise<ToolBundle> {
  const files = await findToolFiles(path.resolve(folder));
  const kept = await readKeptBundle(files);
  return kept ?? bundleFiles(files);
}

/** Makes it anew, and keeps it in the folder where that can be written to. */
export async function buildToolBundle(folder: string): Promise<ToolBundle> {
  return bundleFiles(await findToolFiles(path.resolve(folder)));
}

async function bundleFiles(files: ToolFiles): Promise<ToolBundle> {
  const activities = await bundleActivities(files);
  const { tools: manifest } = await readManifest(
    files,
    files.activities === undefined ? null : activities.exports,
  );
  const workflows = await bundleToolWorkflows(files);
  const parts = { workflows: workflows.code, activities: activities.code, manifest };
  const bundle: ToolBundle = { hash: hashOf(parts), ...parts, pages: workflows.pages };
  await keepBundle(files, bundle, {
    authored: [...workflows.sources, ...activities.sources],
    runtime: workflows.runtime,
  });
  return bundle;
}

function hashOf({ workflows, activities, manifest }: Omit<ToolBundle, 'hash'>): string {
  const hash = createHash('sha256');
  for (const part of [workflows, activities, JSON.stringify(manifest)]) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 16);
}
