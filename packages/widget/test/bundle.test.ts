import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundle } from '../../../src/api/http/bundle.ts';

test('the widget is at most 77 KiB gzip, with everything in it', async () => {
  const { code } = await bundle('widget.js');
  expect(gzipSync(code, { level: 9 }).length / 1024).toBeLessThanOrEqual(77);
  // One file: nothing is fetched later.
  expect(code).not.toMatch(/\bimport\s*[("'{*]|\bfrom\s*["']/);
  expect(code).not.toMatch(/\beval\(/);
});

test('the terms of everything in it are beside it, and it says where', async () => {
  const { code, licenses } = await bundle('widget.js');
  expect(code).toMatch(/^\/\*! .*widget\.licenses\.txt \*\/\n/);
  const names = [
    'preact',
    'ai',
    '@ai-sdk/react',
    '@ai-sdk/provider-utils',
    'zod',
    'throttleit',
    'eventsource-parser',
  ];
  for (const name of names)
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\([\\w.-]+\\)$`, 'm'));
  // Every text once, with its makers.
  expect(licenses).toMatch(/Copyright \(c\) 2015-present Jason Miller/);
  expect(licenses.match(/TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION/g)).toHaveLength(1);
  expect(licenses.match(/Copyright 2023 Vercel, Inc\./g)).toHaveLength(1);
});
