import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeLeftFolders } from './run-folder.ts';

test('folders of runs that were killed are removed, those of runs that go on are kept', async () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'runs-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const going = [`tests-of-interlude-${process.pid}-abc`, `something-else-${ended}-abc`];
  for (const name of [...going, `tests-of-interlude-${ended}-abc`])
    mkdirSync(path.join(parent, name, 'files'), { recursive: true });

  await removeLeftFolders(parent);
  expect(readdirSync(parent).toSorted()).toEqual(going.toSorted());
});
