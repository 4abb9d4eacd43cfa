/** The workflow code of this checkout or image: the code of turns and of deliveries. */
import { hash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hashesOf, haveChanged, isUnchanged } from '../../tool-bundles/tool-bundle.ts';
import { contract } from '../../../workflows/contract.ts';

/** One version of the workflow code. */
export interface TurnCode {
  /** Depends on the code alone, not on the machine or the version of the SDK. */
  buildId: string;
  /** One module without the SDK: see temporal/join-sdk.ts. */
  code: string;
  /** The contract that the code needs: see workflows/contract.ts. */
  needs: number;
}

const root = path.resolve(import.meta.dirname, '../../../..');
const ownEntry = path.join(root, 'src/workflows/index.ts');

/** `buildId` replaces the one that is derived from the code. `entry`: the module that exports the workflows. */
export async function readTurnCode({
  buildId: given,
  entry = ownEntry,
}: { buildId?: string | undefined; entry?: string } = {}): Promise<TurnCode> {
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const code = await readKept(entry);
  const buildId = given ?? `${version}-${hash('sha256', code).slice(0, 12)}`;
  return { code, buildId, needs: contract.needs };
}

/** The bundle of an entry, with the hashes of its source files by their paths from the root. */
interface Kept {
  inputs: Record<string, string>;
  code: string;
}

/**
 * Bundling takes a second of each start, and memory that the process keeps. The result is kept in `build/` while none
 * of its files changes, and is trusted as much as the code beside it. For another entry it is kept beside that.
 */
async function readKept(entry: string): Promise<string> {
  const file = path.join(
    entry === ownEntry ? path.join(root, 'build') : path.dirname(entry),
    'turn-code.json',
  );
  try {
    const kept = JSON.parse(await readFile(file, 'utf8')) as Kept;
    if (await isUnchanged(root, kept.inputs)) return kept.code;
  } catch {
    // Not there, or a source file is gone.
  }
  const startedAt = Date.now();
  const bundled = await bundleWithoutSdk(entry);
  const { code } = bundled;
  const files = [...bundled.files, path.join(root, 'package.json')];
  const kept: Kept = { inputs: await hashesOf(root, files), code };
  if (await haveChanged(files, startedAt)) return code;
  const draft = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(draft, JSON.stringify(kept));
    await rename(draft, file);
  } catch {
    // The folder is read-only: the next start bundles again.
  }
  return code;
}

async function bundleWithoutSdk(entry: string): Promise<{ code: string; files: string[] }> {
  // It loads a compiler, which few commands need.
  const { rolldown } = await import('rolldown');
  await using bundle = await rolldown({
    input: entry,
    cwd: root,
    platform: 'neutral',
    external: /^@temporalio\//,
    // File names would reveal where they are.
    experimental: { attachDebugInfo: 'none' },
    onLog: (_level, { message }) => {
      throw new Error(`The workflow code cannot be bundled: ${message}`);
    },
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, comments: false });
  const [{ code, moduleIds }] = output;
  return { code, files: moduleIds.filter((id) => path.isAbsolute(id)) };
}
