/** Bundles what pages load into `build/`, for machines without a bundler: npm run build-browser. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle, bundles, fileOf } from '../src/browser/bundle.ts';
import type { BundleName } from '../src/browser/bundle.ts';

for (const name of Object.keys(bundles) as BundleName[]) {
  const code = await bundle(name);
  await mkdir(path.dirname(fileOf(name)), { recursive: true });
  await writeFile(fileOf(name), code);
  console.log(`${name}: ${(gzipSync(code, { level: 9 }).length / 1024).toFixed(1)} KiB gzip`);
}
