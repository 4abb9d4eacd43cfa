/**
 * Loads the code of an author's activities: every function that it exports is one. Rejects when that takes too long: nothing
 * else of the worker would go on, and nobody would know why.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AuthorActivity } from '../../activities/durable-tools/effects.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';

const longestLoadMs = 30_000;

export async function loadAuthorActivities(
  { hash, activities }: Pick<ToolBundle, 'hash' | 'activities'>,
  { timeoutMs = longestLoadMs }: { timeoutMs?: number } = {},
): Promise<Map<string, AuthorActivity>> {
  if (activities === '') return new Map();
  // A folder that only we can read and write, and that is gone once the code is loaded.
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-tools-'));
  try {
    const file = path.join(folder, `${hash}.mjs`);
    await writeFile(file, activities, { mode: 0o600 });
    const loading = import(pathToFileURL(file).href) as Promise<Record<string, unknown>>;
    const exported = await withTimeout(loading, timeoutMs, null);
    if (exported === null)
      throw new Error(
        `The activities of the tools (bundle ${hash}) were not loaded within ${timeoutMs / 1000} s: look for an await outside of their functions.`,
      );
    return new Map(
      Object.entries(exported).flatMap(([name, value]) =>
        typeof value === 'function' ? [[name, value as AuthorActivity]] : [],
      ),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
