/** A service whose assistant has tools that MCP clients may call, and the notes that these tools take of what they did. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach } from 'vitest';
import { bundleTools } from '../durable-tools/bundle-tools.ts';
import { useService } from '../service/use-service.ts';

const bundled = await bundleTools();
export const exposed = ['greet', 'delete_page', 'wizard'];
export const outputSchema = {
  type: 'object',
  properties: { deleted: { type: 'boolean' } },
  required: ['deleted'],
};
const bundle = {
  ...bundled,
  manifest: bundled.manifest.map((tool) => ({
    ...tool,
    ...(exposed.includes(tool.name) && { expose: true as const }),
    ...(tool.name === 'delete_page' && { outputSchema }),
  })),
};

export function useExposedTools() {
  const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
  process.env['INTERLUDE_TEST_NOTES'] = notesFile;
  afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
  beforeEach(() => writeFileSync(notesFile, ''));
  const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);
  const used = useService({ tools: { assistant: bundle } });
  return { used, bundle, notes };
}
