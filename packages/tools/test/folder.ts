/** A folder of tools, written for one test, in a project of its own that has no packages. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

export async function writeToolFolder(files: Record<string, string>): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'tools-of-an-author-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const folder = path.join(home, 'tools');
  await mkdir(folder);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

/** A module of one tool; `members` are added to its definition last and override it. */
export function toolModule(members = '', { before = '', name = 'a_tool' } = {}): string {
  return `import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
${before}
export const tool = defineTool({
  name: '${name}', description: 'Does something.', input: z.object({ page: z.string() }),
  run: () => 'done',
  ${members}
});
void activities;
`;
}
