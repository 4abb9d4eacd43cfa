/**
 * What pages load, as one file each. In a checkout it is bundled from its sources when somebody asks for it; an image for
 * production brings the files along (`npm run build-browser`), and no bundler.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

export const bundles = {
  'widget.js': 'src/widget/index.ts',
  'playground.js': 'src/playground/index.tsx',
} as const;

export type BundleName = keyof typeof bundles;

const root = path.resolve(import.meta.dirname, '../..');
const built = new Map<BundleName, Promise<string>>();

/** JavaScript, minified. Bundled once per process. */
export function readBundle(name: BundleName): Promise<string> {
  const known = built.get(name) ?? (existsSync(fileOf(name)) ? readFile(fileOf(name), 'utf8') : bundle(name));
  built.set(name, known);
  return known;
}

/** Where a built one is kept. */
export function fileOf(name: BundleName): string {
  return path.join(root, 'build', name);
}

export async function bundle(name: BundleName): Promise<string> {
  const { rolldown } = await import('rolldown');
  const preact = path.join(root, 'node_modules/preact');
  const build = await rolldown({
    input: path.join(root, bundles[name]),
    platform: 'browser',
    plugins: [withoutSchemaWriters],
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
    const { output } = await build.generate({ format: 'esm', minify: true });
    return output[0].code;
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
};
