/** The workflow code of this checkout or image: the code of turns and of deliveries. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { contract } from '../../workflows/contract.ts';

/** One version of the workflow code. */
export interface TurnCode {
  /** The same for the same code on every machine and with every version of the SDK, and another one for other code. */
  buildId: string;
  /** One module without the SDK: see temporal/join-sdk.ts. */
  code: string;
  /** The contract that the code needs: see workflows/contract.ts. */
  needs: number;
}

const root = path.resolve(import.meta.dirname, '../../..');

/** `buildId`: replaces the one that is made from the code. `entry`: the module that exports the workflows. */
export async function readTurnCode({
  buildId: given,
  entry = path.join(root, 'src/workflows/index.ts'),
}: { buildId?: string | undefined; entry?: string } = {}): Promise<TurnCode> {
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const code = await bundleWithoutSdk(entry);
  const buildId = given ?? `${version}-${hash('sha256', code).slice(0, 12)}`;
  return { code, buildId, needs: contract.needs };
}

async function bundleWithoutSdk(entry: string): Promise<string> {
  // It loads a compiler, which not every command needs.
  const { rolldown } = await import('rolldown');
  await using bundle = await rolldown({
    input: entry,
    cwd: root,
    platform: 'neutral',
    external: /^@temporalio\//,
    // Names of files say where they are.
    experimental: { attachDebugInfo: 'none' },
    onLog: (_level, { message }) => {
      throw new Error(`The workflow code cannot be bundled: ${message}`);
    },
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, comments: false });
  return output[0].code;
}
