/** Loads a module of an author's for Node, which is given as text. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { withTimeout } from '../time/with-timeout.ts';

/** Rejects when that takes too long: then its code waits outside of its functions. */
export async function loadForNode(
  code: string,
  { timeoutMs, name = 'tools' }: { timeoutMs: number; name?: string },
): Promise<Record<string, unknown>> {
  // A folder that only we can read and write, and that is gone once the code is loaded.
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-tools-'));
  try {
    const file = path.join(folder, `${name}.mjs`);
    await writeFile(file, code, { mode: 0o600 });
    const loading = import(pathToFileURL(file).href) as Promise<Record<string, unknown>>;
    const loaded = await withTimeout(loading, timeoutMs, null);
    if (loaded === null)
      throw new Error(`not loaded within ${timeoutMs / 1000} s: look for an await outside of the functions`);
    return loaded;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
