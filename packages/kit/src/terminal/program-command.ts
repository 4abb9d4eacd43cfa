/**
 * How this program is started from here. Everything that a terminal shows to be typed there comes from here; logs, stored texts and
 * errors of the API are read elsewhere, and say `interlude …`. `npx interlude` only where npx finds this program: elsewhere it
 * would install another package of that name.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

interface Place {
  cwd?: string;
  /** The file that Node was started with. */
  file?: string;
  searched?: string;
}

/** A command of ours, as it is typed here: `npx interlude login`. */
export function ourCommand(words: string): string {
  return `${programCommand()} ${words}`;
}

export function programCommand({
  cwd = process.cwd(),
  file = process.argv[1] ?? '',
  searched = process.env['PATH'] ?? '',
}: Place = {}): string {
  if (leadsTo(file, path.join(projectOf(cwd), 'node_modules/.bin/interlude'))) return 'npx interlude';
  const isOnPath = searched
    .split(path.delimiter)
    .some((folder) => leadsTo(file, path.join(folder, 'interlude')));
  if (isOnPath) return 'interlude';
  return `node ${/^[\w./\\:@~-]+$/.test(file) ? file : `"${file}"`}`;
}

/** The folder that npx searches for programs. */
function projectOf(folder: string): string {
  const isProject = ['package.json', 'node_modules'].some((name) => existsSync(path.join(folder, name)));
  const parent = path.dirname(folder);
  return isProject || parent === folder ? folder : projectOf(parent);
}

/** The links of npm and the set-up lead to the file that Node was started with. */
function leadsTo(file: string, link: string): boolean {
  try {
    return realpathSync(link) === realpathSync(file);
  } catch {
    return false;
  }
}

/** From the nearest package.json: that of the checkout, or of the installed package. */
export function programVersion(): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  }
  return '0.0.0';
}
