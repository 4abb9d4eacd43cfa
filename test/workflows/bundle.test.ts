import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { expect, onTestFinished, test } from 'vitest';
import { workflowBundle } from '../workflow-bundle.ts';

test('the workflows bundle, and nothing heavy comes along', async () => {
  const { codePath } = await workflowBundle();
  const { size } = await stat(codePath);
  expect(size).toBeGreaterThan(500_000);
  expect(size).toBeLessThan(2_200_000);
});

test('nothing of telemetry comes along, so that no setting of it can change what a workflow does', async () => {
  const { codePath } = await workflowBundle();
  expect(await readFile(codePath, 'utf8')).not.toMatch(/node_modules\/@opentelemetry|src\/telemetry/);
});

test('a Node module two imports away from a workflow is refused', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bundle-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(folder, 'index.ts'), "export { planted } from './near.ts';");
  await writeFile(
    path.join(folder, 'near.ts'),
    "import { id } from './far.ts';\nexport const planted = async () => id();",
  );
  await writeFile(
    path.join(folder, 'far.ts'),
    "import { randomUUID } from 'node:crypto';\nexport const id = () => randomUUID();",
  );
  let log = '';
  const logger = new DefaultLogger('ERROR', ({ message }) => (log += message));
  await expect(bundleWorkflowCode({ workflowsPath: path.join(folder, 'index.ts'), logger })).rejects.toThrow(
    'Webpack',
  );
  expect(log).toContain('node:crypto');
});
