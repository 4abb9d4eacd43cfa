import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder, removed when the test that asks for it has finished. */
export function testFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
