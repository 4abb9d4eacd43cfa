/** Finds the files of a folder that are modules of tools, and the one with their activities. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';

export interface ToolFiles {
  folder: string;
  /** Names in the folder, sorted, so that they are taken in the same order everywhere. */
  modules: string[];
  activities: string | undefined;
}

const isCode = /^[^.].*\.(?:ts|mts|js|mjs)$/;
const isTest = /\.(?:test|spec)\.[^.]+$|\.d\.m?ts$/;

export async function findToolFiles(folder: string): Promise<ToolFiles> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new ToolFolderError(folder, ['there is no such folder; make it, or correct tools.folder']);
  });
  const names = entries
    .filter((entry) => !entry.isDirectory() && isCode.test(entry.name) && !isTest.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
  const isActivities = (name: string) => path.parse(name).name === 'activities';
  const [activities, ...others] = names.filter(isActivities);
  if (others.length > 0)
    throw new ToolFolderError(folder, [
      `${activities} and ${others.join(', ')} are both files of activities; keep one`,
    ]);
  const modules = names.filter((name) => !isActivities(name));
  if (modules.length === 0)
    throw new ToolFolderError(folder, [
      'there is no tool in it; write one in a .ts, .js or .mjs file directly in this folder',
    ]);
  return { folder, modules, activities };
}

/** Everything that is wrong with a folder of tools, each with its file and what to do about it. */
export class ToolFolderError extends Error {
  override name = 'ToolFolderError';
  readonly problems: readonly string[];

  constructor(folder: string, problems: readonly string[]) {
    super(
      [`The tools in ${folder} cannot be used:`, ...problems.map((problem) => `  ${problem}`)].join('\n'),
    );
    this.problems = problems;
  }
}

/** Only imports are wrong: workflows may not have them, code for Node may. */
export class RefusedImports extends ToolFolderError {}
