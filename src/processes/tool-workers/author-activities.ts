/** Loads the code of an author's activities: every function that it exports is one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AuthorActivity } from '../../activities/durable-tools/effects.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';

export async function loadAuthorActivities({
  hash,
  activities,
}: Pick<ToolBundle, 'hash' | 'activities'>): Promise<Map<string, AuthorActivity>> {
  if (activities === '') return new Map();
  // A folder that only we can read and write, and that is gone once the code is loaded.
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-tools-'));
  try {
    const file = path.join(folder, `${hash}.mjs`);
    await writeFile(file, activities, { mode: 0o600 });
    const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    return new Map(
      Object.entries(exported).flatMap(([name, value]) =>
        typeof value === 'function' ? [[name, value as AuthorActivity]] : [],
      ),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
