/**
 * How people start this program from where they are: what its messages tell them to type. `npx interlude` only where npx finds
 * this program, because elsewhere it would install a package of that name that is not ours.
 */
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

interface Place {
  cwd?: string;
  /** The file that Node was started with. */
  file?: string;
  searched?: string;
}

export function programCommand({
  cwd = process.cwd(),
  file = process.argv[1] ?? '',
  searched = process.env['PATH'] ?? '',
}: Place = {}): string {
  if (isThisProgram(path.join(projectOf(cwd), 'node_modules/.bin/interlude'))) return 'npx interlude';
  const isOnPath = searched
    .split(path.delimiter)
    .some((folder) => isThisProgram(path.join(folder, 'interlude')));
  if (isOnPath) return 'interlude';
  return `node ${/^[\w./\\:@~-]+$/.test(file) ? file : `"${file}"`}`;
}

/** Where npx looks for programs. */
function projectOf(folder: string): string {
  const isProject = ['package.json', 'node_modules'].some((name) => existsSync(path.join(folder, name)));
  const parent = path.dirname(folder);
  return isProject || parent === folder ? folder : projectOf(parent);
}

/** The links that npm and the set-up make lead to a file beside this one. */
function isThisProgram(link: string): boolean {
  try {
    return path.dirname(realpathSync(link)) === realpathSync(import.meta.dirname);
  } catch {
    return false;
  }
}
