/**
 * Completes package-lock.json after `npm install`. Packages with native parts have one optional package per platform;
 * npm leaves those out that the registry in use does not serve, and then `npm ci` refuses the lockfile on every
 * platform. What is missing is added by name and version, with the platform its name tells.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {{ version?: string, optional?: boolean, optionalDependencies?: Record<string, string>, dev?: boolean, devOptional?: boolean }} Entry */

/** @param {Record<string, Entry>} packages as in the lockfile; completed in place. @returns {string[]} what was added */
export function complete(packages) {
  const added = [];
  for (const [parent, { optionalDependencies = {}, dev, devOptional }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const version = range.replace(/^[\^~]/, '');
      const found = resolve(packages, parent, name);
      if (found && (version !== range || found.version === version)) continue;
      const flags = { ...(dev && { dev }), ...(devOptional && { devOptional }), optional: true };
      packages[`${found ? `${parent}/` : ''}node_modules/${name}`] = {
        version,
        ...platformOf(name),
        ...flags,
      };
      added.push(`${name}@${version}`);
    }
  }
  return added;
}

/** As Node does: next to the parent, then upwards. @param {Record<string, Entry>} packages @param {string} parent @param {string} name */
function resolve(packages, parent, name) {
  for (
    let folder = parent;
    folder !== '';
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    const found = packages[`${folder}/node_modules/${name}`];
    if (found) return found;
  }
  return packages[`node_modules/${name}`];
}

/** @param {string} name such as `@swc/core-linux-x64-musl` */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const first = (/** @type {string[]} */ known) => words.find((word) => known.includes(word));
  const system = first([
    'aix',
    'android',
    'darwin',
    'freebsd',
    'linux',
    'netbsd',
    'openbsd',
    'openharmony',
    'sunos',
    'win',
    'win32',
    'windows',
  ]);
  const cpu = first([
    'arm',
    'arm64',
    'ia32',
    'loong64',
    'mips64el',
    'ppc64',
    'riscv64',
    's390x',
    'wasm32',
    'x64',
  ]);
  const libc = { gnu: 'glibc', musl: 'musl' }[first(['gnu', 'musl']) ?? ''];
  return {
    ...(system && { os: [system.startsWith('win') ? 'win32' : system] }),
    ...(cpu && { cpu: [cpu] }),
    ...(libc && { libc: [libc] }),
  };
}

if (import.meta.main) {
  const file = path.join(import.meta.dirname, '../package-lock.json');
  const lockfile = JSON.parse(readFileSync(file, 'utf8'));
  const added = complete(lockfile.packages);
  lockfile.packages = Object.fromEntries(
    Object.entries(lockfile.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  if (added.length > 0) writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`);
  console.error(added.length === 0 ? 'the lockfile is complete' : `added ${added.join(', ')}`);
}
