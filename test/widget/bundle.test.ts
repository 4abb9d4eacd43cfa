import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundle } from '../../src/browser/bundle.ts';

test('the widget is at most 75 KiB gzip, with everything in it', async () => {
  const code = await bundle('widget.js');
  expect(gzipSync(code, { level: 9 }).length / 1024).toBeLessThanOrEqual(75);
  // One file: nothing is fetched later.
  expect(code).not.toMatch(/\bimport\s*[("'{*]|\bfrom\s*["']/);
  expect(code).not.toMatch(/\beval\(/);
});
