/** The author's tools and what runs them, as a bundle that Temporal's worker takes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import type { BundleOptions } from '@temporalio/worker';
import { bundleTools } from './bundle-code.ts';
import type { Code } from './bundle-code.ts';
import type { ToolFiles } from './tool-files.ts';

const source = path.resolve(import.meta.dirname, '..');
const runtime = path.join(source, 'workflows/durable-tool/durable-tool.ts');
const taskStart = path.join(source, 'workflows/durable-tool/task-start.ts');

export async function bundleToolWorkflows(files: ToolFiles): Promise<Code> {
  const authored = await bundleTools({ files, code: entryOf(files) }, 'esm');
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-tools-'));
  try {
    const entry = path.join(folder, 'entry.mjs');
    await writeFile(path.join(folder, 'tools.mjs'), authored.code);
    await writeFile(
      entry,
      `import { createDurableTool } from ${JSON.stringify(runtime)};
import { definitions, toRequestedSchema } from './tools.mjs';
export const durableTool = createDurableTool(definitions, toRequestedSchema);
`,
    );
    const inputs: string[] = [];
    const { code } = await bundleWorkflowCode({
      workflowsPath: entry,
      workflowInterceptorModules: [taskStart],
      logger: new DefaultLogger('WARN'),
      webpackConfigHook: independentOfPlace(inputs),
    });
    const isOurs = (file: string) => file.startsWith(source + path.sep) && file.endsWith('.ts');
    return {
      code: withoutSourceNames(code),
      sources: authored.sources,
      runtime: [...authored.runtime, ...inputs.filter(isOurs)],
      pages: authored.pages,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function entryOf({ folder, modules }: ToolFiles): string {
  const ours = (file: string) => JSON.stringify(path.join(source, 'tools', file));
  const imports = modules.map(
    (file, index) => `import * as module${index} from ${JSON.stringify(path.join(folder, file))};`,
  );
  const listed = modules.map((file, index) => `{ file: ${JSON.stringify(file)}, exports: module${index} }`);
  return `${imports.join('\n')}
import { toolsOf } from ${ours('find-tools.ts')};
import { titleOf } from ${ours('describe-tools.ts')};
export { toRequestedSchema } from ${ours('requested-schema.ts')};
export const definitions = toolsOf([${listed.join(', ')}]).map(({ definition }) => ({
  ...definition,
  title: titleOf(definition.name, definition.title ?? definition.annotations?.title),
}));
`;
}

/** Modules are numbered instead of named after their files, whose folders differ from machine to machine. */
function independentOfPlace(inputs: string[]): NonNullable<BundleOptions['webpackConfigHook']> {
  return (config) => ({
    ...config,
    output: { ...config.output, pathinfo: false },
    // The entry stands outside of the service's folder, and means its packages.
    resolve: {
      ...config.resolve,
      modules: [...(config.resolve?.modules ?? ['node_modules']), path.join(source, '../node_modules')],
    },
    optimization: {
      ...config.optimization,
      moduleIds: 'natural',
      chunkIds: 'natural',
      concatenateModules: false,
    },
    plugins: [
      ...(config.plugins ?? []),
      (compiler) =>
        compiler.hooks.done.tap('inputs', ({ compilation }) => {
          inputs.push(...compilation.fileDependencies);
        }),
    ],
  });
}

/** The map's names of files lead to this machine, too; of what they map to, nothing else does. */
function withoutSourceNames(code: string): string {
  const mark = '\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const start = code.lastIndexOf(mark);
  if (start === -1) return code;
  // The worker asks for the name of the file.
  const empty = { version: 3, file: 'tools.js', sources: [], names: [], mappings: '' };
  return code.slice(0, start) + mark + Buffer.from(JSON.stringify(empty)).toString('base64');
}
