/** A bundle of tools made by hand from modules of the tests. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { rolldown } from 'rolldown';
import type { InputOptions } from 'rolldown';
import { z } from 'zod';
import type { ToolAnnotations } from '@interlude-ai/tools/define-tool.ts';
import type { ToolBundle } from '../../src/platform/tool-bundles/tool-bundle.ts';
import * as plain from './fixtures/plain.ts';
import * as tools from './fixtures/tools.ts';

const fixtures = path.join(import.meta.dirname, 'fixtures');
const source = path.join(import.meta.dirname, '../../src');
const sinks = path.join(source, 'workflows/durable-tool/sinks.ts');
const describeTools = path.join(import.meta.dirname, '../../packages/tools/src/describe-tools.ts');
let made: Promise<ToolBundle> | undefined;

export function bundleTools(): Promise<ToolBundle> {
  made ??= make();
  return made;
}

/** The same tools, as their author has changed them. */
export async function changedTools(from: string, to: string): Promise<ToolBundle> {
  const { hash: _, ...bundle } = await bundleTools();
  if (!bundle.workflows.includes(from)) throw new Error(`The bundle has no ${from}.`);
  return hashed({ ...bundle, workflows: bundle.workflows.replaceAll(from, to) });
}

async function make(): Promise<ToolBundle> {
  const workflows = await bundled(
    `export * from ${quoted(path.join(fixtures, 'entry.ts'))};
export { interceptors } from ${quoted(sinks)};`,
    { platform: 'neutral', external: /^@temporalio\//, resolve: { mainFields: ['module', 'main'] } },
  );
  const node = await bundled(
    `import { plainToolsOf } from ${quoted(describeTools)};
import * as plain from ${quoted(path.join(fixtures, 'plain.ts'))};
export * as activities from ${quoted(path.join(fixtures, 'activities.ts'))};
export const tools = plainToolsOf([{ file: 'plain.ts', exports: plain }]);`,
    { platform: 'node' },
  );
  const defined = [...Object.values(tools), ...Object.values(plain)];
  const manifest = defined.map((tool) => {
    const { name, title = name, description, input, annotations, execute } = tool as unknown as Defined;
    const inputSchema = z.toJSONSchema(input);
    return {
      name,
      title,
      description,
      inputSchema,
      ...(annotations && { annotations }),
      ...(execute !== undefined && { executeMs: 5_000 }),
      file: 'tools.ts',
    };
  });
  return hashed({ workflows, node, manifest });
}

async function bundled(entry: string, options: InputOptions): Promise<string> {
  const bundle = await rolldown({
    ...options,
    input: 'entry',
    plugins: [
      {
        name: 'entry',
        resolveId: (source) => (source === 'entry' ? source : null),
        load: (id) => (id === 'entry' ? { code: entry, moduleType: 'js' } : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

interface Defined {
  name: string;
  title?: string;
  description: string;
  input: z.ZodObject;
  annotations?: ToolAnnotations;
  execute?: unknown;
}

function hashed(bundle: Omit<ToolBundle, 'hash'>): ToolBundle {
  const hash = createHash('sha256').update(JSON.stringify(bundle)).digest('hex').slice(0, 12);
  return { hash, ...bundle };
}
