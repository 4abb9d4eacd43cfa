/**
 * Completes package-lock.json after `npm install`. Packages with native parts have one optional package per platform; npm
 * leaves those of other platforms out where a lockfile or a node_modules is there already, and then `npm ci` refuses the
 * lockfile on them. What is missing is looked up with npm, by name and version, and added as npm describes it: with its
 * platform, and with the hash that `npm ci` checks.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** @typedef {{ version?: string, integrity?: string, link?: boolean, optional?: boolean, optionalDependencies?: Record<string, string>, dev?: boolean, devOptional?: boolean }} Entry */
/** @typedef {{ place: string, name: string, version: string, flags: Partial<Entry> }} Missing */

/** Platform packages that are not in the lockfile, or are there without a hash. @param {Record<string, Entry>} packages as in the lockfile @returns {Missing[]} */
export function missingIn(packages) {
  const missing = [];
  for (const [parent, { optionalDependencies = {}, dev, devOptional }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const version = range.replace(/^[\^~]/, '');
      const found = placeOf(packages, parent, name);
      const isThere = found !== undefined && (version !== range || packages[found]?.version === version);
      if (isThere && packages[found]?.integrity) continue;
      const place = isThere ? found : `${found ? `${parent}/` : ''}node_modules/${name}`;
      const flags = { ...(dev && { dev }), ...(devOptional && { devOptional }), optional: true };
      missing.push({ place, name, version: (isThere && packages[found]?.version) || version, flags });
    }
  }
  return missing;
}

/** As Node does: next to the parent, then upwards. @param {Record<string, Entry>} packages @param {string} parent @param {string} name */
function placeOf(packages, parent, name) {
  for (
    let folder = parent;
    folder !== '';
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    const place = `${folder}/node_modules/${name}`;
    if (packages[place]) return place;
  }
  const place = `node_modules/${name}`;
  return packages[place] ? place : undefined;
}

/** What npm writes about them where nothing is installed yet. @param {Missing[]} missing @returns {Entry[]} */
function lookUp(missing) {
  const folder = mkdtempSync(path.join(tmpdir(), 'lockfile-'));
  try {
    // Under names of their own: two versions of one package may be missing.
    const wanted = missing.map(({ name, version }, index) => [`package-${index}`, `npm:${name}@${version}`]);
    const manifest = { private: true, optionalDependencies: Object.fromEntries(wanted) };
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
    const words = ['install', '--package-lock-only', '--ignore-scripts', '--omit-lockfile-registry-resolved'];
    execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const { packages } = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
    return missing.map(({ name, version }, index) => {
      const { name: _, ...entry } = packages[`node_modules/package-${index}`] ?? {};
      if (!entry.integrity)
        throw new Error(`The registry in use does not serve ${name}@${version}; use another one.`);
      return entry;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As npm would write it, so that it does not write it anew. @param {Entry & { engines?: object }} entry */
function inOrder({ version, integrity, engines, ...rest }) {
  const others = Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { version, integrity, ...Object.fromEntries(others), ...(engines && { engines }) };
}

if (import.meta.main) {
  const file = path.join(import.meta.dirname, '../package-lock.json');
  const lockfile = JSON.parse(readFileSync(file, 'utf8'));
  const missing = missingIn(lockfile.packages);
  const found = missing.length === 0 ? [] : lookUp(missing);
  for (const [index, { place, flags }] of missing.entries())
    lockfile.packages[place] = inOrder({ ...found[index], ...flags });
  lockfile.packages = Object.fromEntries(
    Object.entries(lockfile.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  if (missing.length > 0) writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`);
  const added = missing.map(({ name, version }) => `${name}@${version}`);
  console.error(added.length === 0 ? 'the lockfile is complete' : `added ${added.join(', ')}`);
}
