/**
 * For the image: removes from `node_modules` what no process loads, and writes what is left as a bill of materials (CycloneDX).
 * `node scripts/trim-modules.mjs`, where `npm ci --omit=dev` has run.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const modules = path.resolve('node_modules');
const own = JSON.parse(readFileSync('package.json', 'utf8'));
const triple = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;

const unused = [
  // The lockfile also carries a Node for development machines; the base image has its own.
  'node-{linux,darwin,win}-*',
  '.bin/node',
  // Source and native code of other platforms.
  '@temporalio/core-bridge/{sdk-core,src,bridge-macros,Cargo.*}',
  `@temporalio/core-bridge/releases/!(${triple})`,
  // Node loads no TypeScript from here.
  '**/*.{ts,mts,cts,map,md,mdx,markdown}',
];
/** Their texts go with the code, also where they are Markdown. */
const isLicense = /(?:^|\/)(?:licen[cs]e|notice|copying)[^/]*$/i;
for (const name of globSync(unused, { cwd: modules }).filter((one) => !isLicense.test(one)))
  rmSync(path.join(modules, name), { recursive: true, force: true });

const { packages } = JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8'));
const components = Object.keys(packages).flatMap((place) => {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, integrity, license } = packages[place];
  // The Node packages are gone, and links lead to our own packages.
  if (version === undefined || !place.includes('node_modules/') || /^node-\w+-\w+$/.test(name)) return [];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, hash] = /^sha512-(\S+)/.exec(integrity ?? '') ?? [];
  return {
    type: 'library',
    'bom-ref': `${purl}#${place}`,
    name,
    version,
    purl,
    ...(license && { licenses: [{ expression: license }] }),
    ...(hash && { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] }),
  };
});
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', name: own.name, version: own.version } },
  components,
};
writeFileSync('sbom.cdx.json', JSON.stringify(bill));
console.log(`${components.length} packages`);
