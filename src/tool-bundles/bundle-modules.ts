/**
 * The two modules of a bundle: the tools with `run` and what runs them, without Temporal's SDK (see temporal/join-sdk.ts);
 * and for Node, the tools with `execute` beside the activities, so that both share what they import.
 */
import path from 'node:path';
import { bundleForNode, bundleTools } from './bundle-code.ts';
import type { Code } from './bundle-code.ts';
import type { ToolFiles } from './tool-files.ts';

const source = path.resolve(import.meta.dirname, '..');

const nothing: Code = { code: '', sources: [], runtime: [], pages: [] };
const ours = (file: string) => JSON.stringify(path.join(source, file));

/** `modules`: those that have a tool with `run`. */
export function bundleToolWorkflows(files: ToolFiles, modules: string[]): Promise<Code> {
  if (modules.length === 0) return Promise.resolve(nothing);
  const { imports, listed } = importsOf(files, modules);
  const code = `${imports}
import { createDurableTool } from ${ours('workflows/durable-tool/durable-tool.ts')};
import { toolsOf } from ${ours('tools/find-tools.ts')};
import { titleOf } from ${ours('tools/describe-tools.ts')};
import { toRequestedSchema } from ${ours('tools/requested-schema.ts')};
export { interceptors } from ${ours('workflows/durable-tool/task-start.ts')};
const definitions = toolsOf([${listed}]).map(({ definition }) => ({
  ...definition,
  title: titleOf(definition.name, definition.title ?? definition.annotations?.title),
}));
export const durableTool = createDurableTool(definitions, toRequestedSchema);
`;
  return bundleTools({ files, code }, 'esm');
}

/** `modules`: those that have a tool with `execute`. */
export function bundleNodeCode(files: ToolFiles, modules: string[]): Promise<Code> {
  const { folder, activities } = files;
  if (activities === undefined && modules.length === 0) return Promise.resolve(nothing);
  const { imports, listed } = importsOf(files, modules);
  const exported =
    activities === undefined
      ? 'export const activities = {};'
      : `export * as activities from ${JSON.stringify(path.join(folder, activities))};`;
  const code = `${imports}
import { plainToolsOf } from ${ours('tools/describe-tools.ts')};
${exported}
export const tools = plainToolsOf([${listed}]);
`;
  return bundleForNode({ files, code });
}

function importsOf({ folder }: ToolFiles, modules: string[]): { imports: string; listed: string } {
  const imports = modules.map(
    (file, index) => `import * as module${index} from ${JSON.stringify(path.join(folder, file))};`,
  );
  const listed = modules.map((file, index) => `{ file: ${JSON.stringify(file)}, exports: module${index} }`);
  return { imports: imports.join('\n'), listed: listed.join(', ') };
}
