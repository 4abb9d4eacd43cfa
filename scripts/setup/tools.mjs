/**
 * Where downloaded and compiled tools live, and the record of what set-up found. The record is how the program and the
 * tests find the tools; they never look for them themselves. Versions are pinned next to what builds them
 * (`temporal-cli/go.mod`, `temporal-test-server/pom.xml`) and read from there.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const cacheFolder = path.join(process.env.XDG_CACHE_HOME || userCache(), 'interlude');

const record = path.join(root, 'node_modules/.interlude/tools.json');

/** A user without a home, as containers have them, keeps it in the checkout. */
function userCache() {
  try {
    return path.join(homedir(), '.cache');
  } catch {
    return path.join(root, 'node_modules/.cache');
  }
}

/** @returns {{ temporal?: string, timeSkipping?: string }} paths of executables */
export function readTools() {
  return existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : {};
}

/** @param {{ temporal?: string, timeSkipping?: string }} found */
export function rememberTools(found) {
  const text = JSON.stringify({ ...readTools(), ...found }, null, 2);
  if (existsSync(record) && readFileSync(record, 'utf8') === text) return;
  mkdirSync(path.dirname(record), { recursive: true });
  const draft = `${record}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, record);
}

/** @param {string} file relative to scripts/ @param {RegExp} pattern with the version as its first group */
export function pinnedVersion(file, pattern) {
  const version = pattern.exec(readFileSync(path.join(root, 'scripts', file), 'utf8'))?.[1];
  if (version === undefined) throw new Error(`scripts/${file} does not pin a version (${pattern})`);
  return version;
}
