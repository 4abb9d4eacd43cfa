/**
 * What pages load, as one file each. In a checkout it is bundled from its sources when somebody asks for it; an image for
 * production brings the files along (`npm run build-browser`), and no bundler.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { licensesOf } from './licenses.ts';

export const bundles = {
  'widget.js': 'src/widget/index.ts',
  'playground.js': 'src/playground/index.tsx',
} as const;

export type BundleName = keyof typeof bundles;

const root = path.resolve(import.meta.dirname, '../..');
const known = new Map<BundleName, Promise<Bundle>>();

export interface Bundle {
  /** JavaScript, minified; names the file below. */
  code: string;
  /** The terms of everything in it, to be passed on with it. */
  licenses: string;
}

/** Bundled once per process. */
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

/** Where a built one is kept. */
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

/** `moduleIds`: every file that something is left of. */
export async function bundleFile(input: string): Promise<{ code: string; moduleIds: string[] }> {
  const { rolldown } = await import('rolldown');
  const preact = path.join(root, 'node_modules/preact');
  const build = await rolldown({
    input,
    platform: 'browser',
    plugins: [withoutSchemaWriters, withoutTransport],
    // Some libraries mark files for server components; here is no server.
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
    // Marks for bundlers are of no use in a page.
    const comments = { annotation: false, jsdoc: false };
    const { output } = await build.generate({ format: 'esm', minify: true, comments });
    const [{ code, moduleIds }] = output;
    return { code, moduleIds };
  } finally {
    await build.close();
  }
}

/** Describing schemas to models is no business of a page, and a tenth of what it would load. */
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
  // The AI SDK has a writer of its own for schemas of zod 3.
  transform(code: string, id: string) {
    if (!/[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.js$/.test(id)) return null;
    return { code: code.replace(/\bzod3ToJsonSchema\(zodSchema\b/, 'undefined?.(zodSchema') };
  },
};

/**
 * The transport that `useChat` makes when it is given none. Pages give it one, and without the other the checks of what it
 * reads go, too.
 */
const withoutTransport = {
  name: 'without-transport',
  transform(code: string, id: string) {
    if (!/[\\/](?:ai|@ai-sdk[\\/]react)[\\/]dist[\\/]index\.js$/.test(id)) return null;
    return { code: code.replaceAll('new DefaultChatTransport()', 'undefined') };
  },
};
