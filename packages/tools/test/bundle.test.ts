import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildToolBundle, openToolBundle } from '../../../src/platform/tool-bundles/open-tool-bundle.ts';
import { keepBundle } from '../../../src/platform/tool-bundles/tool-bundle.ts';
import { findToolFiles } from '../src/bundle/tool-files.ts';
import { toolModule, writeToolFolder } from './folder.ts';

const activities = `import { createHash } from 'node:crypto';
import { shorten } from './lib/shorten.ts';
export function digest(text: string) { return shorten(createHash('sha256').update(text).digest('hex')); }
`;

test('a folder becomes one bundle, the same wherever the folder is, and is made again only when it has changed', async () => {
  const folder = await writeToolFolder({
    'pages.ts': toolModule(
      `title: 'Delete page', annotations: { destructiveHint: true }, output: z.object({ deleted: z.boolean() }),
       activities: activities<typeof import('./activities.ts')>({ idempotent: ['digest'] })`,
      { name: 'delete_page' },
    ),
    'lists.mjs': toolModule('', { name: 'read_list' }),
    'activities.ts': activities,
    'lib/shorten.ts': 'export const shorten = (text: string): string => text.slice(0, 8);\n',
    'pages.test.ts': 'not code',
  });
  const bundle = await buildToolBundle(folder);
  expect(bundle.manifest).toEqual([
    {
      name: 'read_list',
      title: 'Read list',
      description: 'Does something.',
      inputSchema: { type: 'object', properties: { page: { type: 'string' } }, required: ['page'] },
      file: 'lists.mjs',
    },
    {
      name: 'delete_page',
      title: 'Delete page',
      description: 'Does something.',
      inputSchema: expect.any(Object),
      outputSchema: expect.objectContaining({ type: 'object', required: ['deleted'] }),
      annotations: { destructiveHint: true },
      file: 'pages.ts',
    },
  ]);
  expect(bundle.hash).toMatch(/^[0-9a-f]{16}$/);
  // Nothing of this machine is in it.
  for (const code of [bundle.workflows, bundle.node]) {
    const at = code.indexOf(path.dirname(folder));
    expect(code.slice(at, at < 0 ? 0 : at + 200)).toBe('');
    expect(code.includes(path.resolve(import.meta.dirname, '../../..'))).toBe(false);
  }

  // The code for Node is complete in one file.
  const file = path.join(path.dirname(folder), 'node.mjs');
  await writeFile(file, bundle.node);
  expect(await import(file)).toMatchObject({ activities: { digest: expect.any(Function) }, tools: [] });

  // Unchanged: what is kept, even where it has been moved to. The files are older than this bundle.
  await buildToolBundle(folder);
  const kept = path.join(folder, '.interlude-bundle.json');
  await writeFile(
    kept,
    (await readFile(kept, 'utf8')).replace('"description":"Does something."', '"description":"Kept."'),
  );
  expect((await openToolBundle(folder)).manifest[0]?.description).toBe('Kept.');
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'tools-elsewhere-'));
  onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
  await cp(folder, elsewhere, { recursive: true });
  expect((await openToolBundle(elsewhere)).manifest[0]?.description).toBe('Kept.');

  // Made again, it is the same.
  await rm(path.join(elsewhere, '.interlude-bundle.json'));
  expect((await openToolBundle(elsewhere)).hash).toBe(bundle.hash);

  // What an activity imports has changed.
  await writeFile(
    path.join(folder, 'lib/shorten.ts'),
    'export const shorten = (text: string): string => text;\n',
  );
  const changed = await openToolBundle(folder);
  expect(changed.hash).not.toBe(bundle.hash);
  expect(changed.workflows === bundle.workflows).toBe(true);

  // A tool was added.
  await writeFile(path.join(folder, 'zebra.ts'), toolModule('', { name: 'zebra' }));
  expect((await openToolBundle(folder)).manifest.map(({ name }) => name)).toContain('zebra');
}, 60_000);

test('a bundle is not kept if a file has changed while it was made', async () => {
  const folder = await writeToolFolder({ 'lists.mjs': toolModule('', { name: 'read_list' }) });
  const bundle = await buildToolBundle(folder);
  const files = await findToolFiles(folder);
  const authored = [path.join(folder, 'lists.mjs')];
  const { ctimeMs } = await stat(authored[0]!);
  await rm(path.join(folder, '.interlude-bundle.json'), { force: true });
  await keepBundle(files, bundle, { authored, runtime: authored }, ctimeMs - 1);
  expect(await readdir(folder)).not.toContain('.interlude-bundle.json');
  await keepBundle(files, bundle, { authored, runtime: authored }, ctimeMs + 1_000);
  expect(await readdir(folder)).toContain('.interlude-bundle.json');
});
