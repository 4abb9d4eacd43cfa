/** The workflow code is bundled once, and again when a file of it has changed. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readTurnCode } from '../../../src/platform/processes/workers/turn-code.ts';

test('changed code has another id, and the same code the same id', async () => {
  const folder = path.resolve(import.meta.dirname, `../../../build/test-${randomUUID()}`);
  await mkdir(folder, { recursive: true });
  onTestFinished(() => rm(folder, { recursive: true }));
  const [entry, part] = [path.join(folder, 'index.ts'), path.join(folder, 'part.ts')];
  await writeFile(entry, "export { say } from './part.ts';");
  const codeWith = async (word: string) => {
    await writeFile(part, `export const say = () => '${word}';`);
    return readTurnCode({ entry });
  };
  const [one, again, other] = [await codeWith('one'), await codeWith('one'), await codeWith('other')];
  expect(again).toEqual(one);
  expect(one.code).toContain('one');
  expect(other.code).toContain('other');
  expect(other.buildId).not.toBe(one.buildId);
});
