import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openWorkflowBundle } from '../../src/processes/workflow-bundle.ts';

export async function buildWorkflowBundle(): Promise<AsyncDisposable & { codePath: string }> {
  const { code } = await openWorkflowBundle();
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bundle-'));
  const codePath = path.join(folder, 'workflows.js');
  await writeFile(codePath, code);
  return { codePath, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
