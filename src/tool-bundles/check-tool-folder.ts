/** What tools a folder holds, and everything that is wrong with it. Also in the package that authors install. */
import path from 'node:path';
import { activityNames } from './bundle-code.ts';
import { readManifest } from './read-manifest.ts';
import type { Manifest } from './read-manifest.ts';
import { findToolFiles } from './tool-files.ts';

/** Throws `ToolFolderError`, which names every mistake. Takes a fraction of the time that bundling takes. */
export async function checkToolFolder(folder: string): Promise<Manifest> {
  const files = await findToolFiles(path.resolve(folder));
  return readManifest(files, await activityNames(files));
}
