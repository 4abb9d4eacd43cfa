import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { missingIn } from '../scripts/complete-lockfile.mjs';

const text = readFileSync(path.join(import.meta.dirname, '../package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { packages: Parameters<typeof missingIn>[0] };

test('the lockfile has the packages of every platform, with their hashes: else run node scripts/complete-lockfile.mjs', () => {
  expect(Object.keys(packages).length).toBeGreaterThan(300);
  expect(missingIn(packages)).toEqual([]);
  const unhashed = Object.entries(packages).filter(
    ([place, { integrity, link }]) =>
      // Others are ours.
      place.includes('node_modules/') && link !== true && integrity === undefined,
  );
  expect(unhashed).toEqual([]);

  const place = 'node_modules/@swc/core-darwin-arm64';
  const { [place]: missing, ...rest } = packages;
  const { version } = missing ?? {};
  const found = { place, name: '@swc/core-darwin-arm64', version, flags: { optional: true } };
  expect(missingIn(rest)).toEqual([found]);
  const { integrity: _, ...withoutHash } = missing ?? {};
  expect(missingIn({ ...packages, [place]: withoutHash })).toEqual([found]);
});

test('the lockfile names no registry', () => {
  const resolved = [...text.matchAll(/"resolved": "([^"]*)"/g)].map(([, from]) => from);
  expect(resolved.filter((from) => !from?.startsWith('packages/'))).toEqual([]);
});
