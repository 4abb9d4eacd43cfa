import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url));

export async function buildWorkflowBundle(): Promise<AsyncDisposable & { codePath: string }> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bundle-'));
  const codePath = path.join(folder, 'workflows.js');
  await writeFile(codePath, code);
  return { codePath, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
