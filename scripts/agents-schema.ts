/** Writes docs/agents.schema.json, which editors use to check and complete an agents file. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { writtenSchema } from '../src/platform/config/agents-file/agents-file.ts';

export const schemaFile = new URL('../docs/agents.schema.json', import.meta.url);

export function renderAgentsSchema(): string {
  const schema = z.toJSONSchema(writtenSchema, { io: 'input', unrepresentable: 'any' });
  return `${JSON.stringify({ title: 'Interlude agents file', ...schema }, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(schemaFile, renderAgentsSchema());
