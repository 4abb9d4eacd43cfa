import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { complete } from '../scripts/complete-lockfile.mjs';

const text = readFileSync(path.join(import.meta.dirname, '../package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { packages: Parameters<typeof complete>[0] };

test('the lockfile has the packages of every platform: else run node scripts/complete-lockfile.mjs', () => {
  expect(Object.keys(packages).length).toBeGreaterThan(300);
  expect(complete(structuredClone(packages))).toEqual([]);

  const { 'node_modules/@swc/core-darwin-arm64': missing, ...rest } = packages;
  expect(complete(rest)).toEqual([`@swc/core-darwin-arm64@${missing?.version}`]);
  expect(rest['node_modules/@swc/core-darwin-arm64']).toMatchObject({
    os: ['darwin'],
    cpu: ['arm64'],
    optional: true,
  });
});

test('the lockfile names no registry', () => expect(text).not.toContain('"resolved"'));
