/** The default without `INTERLUDE_KEYS`: one generated key in the data folder. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../platform/config/config.ts';
import { generateKey, parseKeys, SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';

/** The configured keys, or else those of the data folder. `areThere`: no keys are generated. */
export async function openKeys(
  { keys, dataDir }: Pick<Config, 'keys' | 'dataDir'>,
  { areThere = false }: { areThere?: boolean } = {},
): Promise<KeyRing> {
  if (keys !== undefined) return parseKeys(keys);
  const file = keysFile(dataDir);
  if (areThere && (await readIfThere(file)) === undefined)
    throw new Error(`There are no keys in ${file}; run this with the environment of the service.`);
  return loadOrCreateKeys(dataDir);
}

/** Reads `<dataDir>/keys`, or creates it (mode 0600). Two processes that start together get the same key. */
export async function loadOrCreateKeys(dataDir: string): Promise<KeyRing> {
  const file = keysFile(dataDir);
  const text = (await readIfThere(file)) ?? (await create(file));
  try {
    return parseKeys(text.trim().replaceAll(/\s*\n\s*/g, ','));
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    const problems = error.message.replace('INTERLUDE_KEYS: ', '');
    throw new SealingError(
      error.code,
      `${file} is damaged (${problems}); without its key, stored accounts cannot be read`,
    );
  }
}

function keysFile(dataDir: string): string {
  return path.join(dataDir, 'keys');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written to a draft and linked into place: `link` fails when another process was first, whose key is then used. */
async function create(file: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${generateKey('local')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
  return await readFile(file, 'utf8');
}
