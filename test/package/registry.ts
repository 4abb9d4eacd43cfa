/**
 * An npm registry without network: it has the given tarballs, and everything that is installed in the checkout. npm itself
 * resolves and installs, so what is missing in a package's dependencies is missing here, too.
 */
import { spawn } from 'node:child_process';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { serve } from '../servers/serve.ts';
import type { Served } from '../servers/serve.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A folder below node_modules, or a tarball. */
interface Release {
  manifest: { name: string; version: string };
  from: string;
}

/** `own`: tarballs by the folder that they were packed from. `others`: folders with more `node_modules`. */
export async function startRegistry(
  own: { folder: string; tarball: string }[],
  others: string[],
): Promise<Served> {
  const releases = [
    ...own.map(({ folder, tarball }) => ({ manifest: manifestIn(folder), from: tarball })),
    ...[root, ...others].flatMap(installedIn),
  ];
  const byName = Map.groupBy(releases, ({ manifest }) => manifest.name);
  const served = await serve(async ({ url, response }) => {
    const [, index] = /^\/-\/(\d+)\.tgz$/.exec(url.pathname) ?? [];
    if (index !== undefined) {
      const { from } = releases[Number(index)] ?? {};
      if (from === undefined) return void response.writeHead(404).end();
      return pipeline(from.endsWith('.tgz') ? createReadStream(from) : tarballOf(from), response);
    }
    const found = byName.get(decodeURIComponent(url.pathname.slice(1)));
    if (!found?.[0]) return void response.writeHead(404).end('{}');
    const versions = found.map((release) => [
      release.manifest.version,
      { ...release.manifest, dist: { tarball: `${served.origin}/-/${releases.indexOf(release)}.tgz` } },
    ]);
    const { name, version: latest } = found[0].manifest;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }));
  });
  return served;
}

/** Of a name, the one that the folder imports comes first: it is the shortest path. */
function installedIn(project: string): Release[] {
  const lock = JSON.parse(readFileSync(path.join(project, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { link?: boolean }>;
  };
  return (
    Object.entries(lock.packages)
      .filter(([place, { link = false }]) => !link && place.includes('node_modules/'))
      .map(([place]) => path.join(project, place))
      // Those for other platforms are missing.
      .filter((folder) => existsSync(path.join(folder, 'package.json')))
      .toSorted((one, other) => one.length - other.length)
      .map((folder) => ({ manifest: manifestIn(folder), from: folder }))
  );
}

function manifestIn(folder: string): Release['manifest'] {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Release['manifest'];
}

/** Not compressed, which npm takes as well. */
function tarballOf(folder: string): NodeJS.ReadableStream {
  const args = ['--create', '--exclude=./node_modules', '--transform=s,^\\.,package,', '.'];
  return spawn('tar', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }).stdout;
}
