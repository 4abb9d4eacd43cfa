/**
 * How this program is started from here. Everything that a terminal shows to be typed there comes from here; logs, stored texts and
 * errors of the API are read elsewhere, and say `interlude …`. `npx` only where it finds this program: elsewhere it would install
 * another package of that name.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

interface Place {
  cwd?: string;
  /** The file that Node was started with. */
  file?: string;
  searched?: string;
}

let program = findProgram('interlude');

/** Before any command is made: which program of ours this is, unless it is `interlude`. */
export function nameProgram(name: string): void {
  program = findProgram(name);
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
  const { name } = program;
  if (isThisProgram(path.join(projectOf(cwd), 'node_modules/.bin', name))) return `npx ${name}`;
  const isOnPath = searched.split(path.delimiter).some((folder) => isThisProgram(path.join(folder, name)));
  if (isOnPath) return name;
  return `node ${/^[\w./\\:@~-]+$/.test(file) ? file : `"${file}"`}`;
}

/** The folder that npx searches for programs. */
function projectOf(folder: string): string {
  const isProject = ['package.json', 'node_modules'].some((name) => existsSync(path.join(folder, name)));
  const parent = path.dirname(folder);
  return isProject || parent === folder ? folder : projectOf(parent);
}

/** The links of npm and the set-up lead to a file of this program. */
function isThisProgram(link: string): boolean {
  try {
    const place = path.relative(realpathSync(program.folder), realpathSync(link));
    return !/^\.\.|(?:^|[\\/])node_modules[\\/]/.test(place);
  } catch {
    return false;
  }
}

export function programVersion(): string {
  return program.version;
}

/** The checkout or the installed package with this program. */
function findProgram(name: string): { name: string; folder: string; version: string } {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { version: string; bin?: object };
    if (manifest.bin && name in manifest.bin) return { name, folder, version: manifest.version };
  }
  return { name, folder: import.meta.dirname, version: '0.0.0' };
}
