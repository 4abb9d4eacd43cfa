/**
 * The scripts of pages, one file each. In a checkout they are bundled from source on first request; an image for production
 * contains the files (`npm run build-browser`) and no bundler.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

export const bundles = {
  'widget.js': 'packages/widget/src/index.ts',
  'playground.js': 'src/api/pages/playground/index.tsx',
} as const;

export type BundleName = keyof typeof bundles;

const root = path.resolve(import.meta.dirname, '../../..');
const known = new Map<BundleName, Promise<Bundle>>();

export interface Bundle {
  /** JavaScript, minified; names the file below. */
  code: string;
  /** The licences of everything in it, which must be passed on with it. */
  licenses: string;
}

/** Reads or bundles each file once per process. */
export function readBundle(name: BundleName): Promise<Bundle> {
  const found = known.get(name) ?? (existsSync(filesOf(name).code) ? readBuilt(name) : bundle(name));
  known.set(name, found);
  return found;
}

async function readBuilt(name: BundleName): Promise<Bundle> {
  const files = filesOf(name);
  const [code, licenses] = await Promise.all([
    readFile(files.code, 'utf8'),
    readFile(files.licenses, 'utf8'),
  ]);
  return { code, licenses };
}

export function filesOf(name: BundleName): Record<keyof Bundle, string> {
  return { code: path.join(root, 'build', name), licenses: path.join(root, 'build', licensesName(name)) };
}

export function licensesName(name: BundleName): string {
  return name.replace(/\.js$/, '.licenses.txt');
}

export async function bundle(name: BundleName): Promise<Bundle> {
  const { code, moduleIds } = await bundleFile(path.join(root, bundles[name]));
  const banner = `/*! Licences of what is in here: ${licensesName(name)} */\n`;
  return { code: banner + code, licenses: licensesOf(moduleIds) };
}

/** `moduleIds`: every file that is part of the result. */
export async function bundleFile(input: string): Promise<{ code: string; moduleIds: string[] }> {
  const { rolldown } = await import('rolldown');
  const preact = path.join(root, 'node_modules/preact');
  const build = await rolldown({
    input,
    platform: 'browser',
    plugins: [withoutSchemaWriters, withoutTransport],
    // Some libraries mark files for server components, which we do not have.
    onLog: (level, log, next) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : next(level, log)),
    resolve: {
      alias: {
        'react/jsx-runtime': path.join(preact, 'jsx-runtime'),
        'react-dom/client': path.join(preact, 'compat/client.mjs'),
        'react-dom': path.join(preact, 'compat'),
        react: path.join(preact, 'compat'),
      },
    },
  });
  try {
    // Annotations for bundlers are useless in a page.
    const comments = { annotation: false, jsdoc: false };
    const { output } = await build.generate({ format: 'esm', minify: true, comments });
    const [{ code, moduleIds }] = output;
    return { code, moduleIds };
  } finally {
    await build.close();
  }
}

/** Pages do not need zod's JSON Schema writers, which are a tenth of their code. */
const schemaWriters =
  /[\\/]zod[\\/]v4[\\/]core[\\/](?:to-json-schema|json-schema-processors|json-schema-generator)\.js$/;

const withoutSchemaWriters = {
  name: 'without-schema-writers',
  load(id: string) {
    if (!schemaWriters.test(id)) return null;
    const exported = readFileSync(id, 'utf8').matchAll(/^export (?:const|function|class) (\w+)/gm);
    const stubs = [...exported].map(
      ([, name]) => `export function ${name}() { throw new Error('not in a page'); }`,
    );
    return { code: stubs.join('\n'), moduleType: 'js' as const };
  },
  // The AI SDK has its own writer for schemas of zod 3.
  transform(code: string, id: string) {
    if (!/[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.js$/.test(id)) return null;
    return { code: code.replace(/\bzod3ToJsonSchema\(zodSchema\b/, 'undefined?.(zodSchema') };
  },
};

/**
 * Removes the default transport of `useChat`. Pages pass their own, and the checks of what the default one reads go with it.
 */
const withoutTransport = {
  name: 'without-transport',
  transform(code: string, id: string) {
    if (!/[\\/](?:ai|@ai-sdk[\\/]react)[\\/]dist[\\/]index\.js$/.test(id)) return null;
    return { code: code.replaceAll('new DefaultChatTransport()', 'undefined') };
  },
};

const ours = path.join(root, 'LICENSE');

interface Notice {
  /** Name, version and the short name of the licence. */
  title: string;
  license: string;
  text: string | null;
}

/** The licence notices of all files in a bundle. Throws for a package without a licence: it may not be passed on. */
function licensesOf(files: string[]): string {
  const folders = new Set(
    files.flatMap((file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file) ?? []),
  );
  const notices = [...folders].map(noticeOf).toSorted((one, other) => one.title.localeCompare(other.title));
  const apache = readFileSync(ours, 'utf8').trim();
  const byText = new Map<string, string[]>();
  for (const { title, license, text } of notices) {
    if (text === null && license !== 'Apache-2.0') throw new Error(`${title} comes without its terms`);
    const terms = text ?? 'Licensed under the Apache License, Version 2.0, whose text is at the end.';
    byText.set(terms, [...(byText.get(terms) ?? []), title]);
  }
  const parts = [...byText].map(([terms, titles]) => `${titles.join('\n')}\n\n${terms}`);
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return [
    'Interlude is under the Apache License, Version 2.0. It contains the following.',
    ...parts,
    `The Apache License, Version 2.0, of all that names it\n\n${apache}`,
  ].join(line);
}

function noticeOf(folder: string): Notice {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
  };
  const file = ['LICENSE', 'LICENSE.md', 'license', 'license.md']
    .map((one) => path.join(folder, one))
    .find((one) => existsSync(one));
  const text = file === undefined ? null : readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim();
  return { title: `${name} ${version} (${license})`, license, text };
}
