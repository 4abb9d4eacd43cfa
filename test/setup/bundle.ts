import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readTurnCode } from '../../src/processes/workers/turn-code.ts';
import { joinWithSdk } from '../../src/temporal/join-sdk.ts';

export async function buildWorkflowBundle(): Promise<AsyncDisposable & { codePath: string }> {
  const { code } = await joinWithSdk(await readTurnCode());
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bundle-'));
  const codePath = path.join(folder, 'workflows.js');
  await writeFile(codePath, code);
  return { codePath, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
