/** The bundle of a folder of tools: the one kept in it while nothing has changed, else made anew, because that takes seconds. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { activityNames } from './bundle-code.ts';
import { bundleNodeCode, bundleToolWorkflows } from './bundle-modules.ts';
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
  const { tools: manifest } = await readManifest(files, await activityNames(files));
  const withTool = (isPlain: boolean) =>
    files.modules.filter((module) =>
      manifest.some(({ file, executeMs }) => file === module && (executeMs !== undefined) === isPlain),
    );
  const [workflows, node] = await Promise.all([
    bundleToolWorkflows(files, withTool(false)),
    bundleNodeCode(files, withTool(true)),
  ]);
  const parts = { workflows: workflows.code, node: node.code, manifest };
  const bundle: ToolBundle = { hash: hashOf(parts), ...parts, pages: workflows.pages };
  await keepBundle(files, bundle, {
    authored: [
      ...workflows.sources,
      ...node.sources,
      ...files.modules.map((file) => path.join(files.folder, file)),
    ],
    runtime: [...workflows.runtime, ...node.runtime],
  });
  return bundle;
}

function hashOf({ workflows, node, manifest }: Omit<ToolBundle, 'hash'>): string {
  const hash = createHash('sha256');
  for (const part of [workflows, node, JSON.stringify(manifest)]) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 16);
}
