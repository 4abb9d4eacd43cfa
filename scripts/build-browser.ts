/** Bundles what pages load into `build/`, for machines without a bundler: npm run build-browser. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle, bundles, filesOf } from '../src/api/http/bundle.ts';
import type { BundleName } from '../src/api/http/bundle.ts';

for (const name of Object.keys(bundles) as BundleName[]) {
  const { code, licenses } = await bundle(name);
  const files = filesOf(name);
  await mkdir(path.dirname(files.code), { recursive: true });
  await writeFile(files.code, code);
  await writeFile(files.licenses, licenses);
  console.log(`${name}: ${(gzipSync(code, { level: 9 }).length / 1024).toFixed(1)} KiB gzip`);
}
