/**
 * Opens the bundle of a folder of tools: the cached one if nothing has changed, otherwise a new one, which takes seconds.
 *
 * A bundle has two modules: the tools with `run` and their runtime, without Temporal's SDK (see temporal/join-sdk.ts); and
 * for Node, the tools with `execute` together with the activities, so that both share what they import.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { activityNames, bundleForNode, bundleTools } from '@interlude-ai/tools/bundle/bundle-code.ts';
import type { Code } from '@interlude-ai/tools/bundle/bundle-code.ts';
import { readManifest } from '@interlude-ai/tools/bundle/read-manifest.ts';
import { keepBundle, readKeptBundle } from './tool-bundle.ts';
import type { ToolBundle } from './tool-bundle.ts';
import { findToolFiles } from '@interlude-ai/tools/bundle/tool-files.ts';
import type { ToolFiles } from '@interlude-ai/tools/bundle/tool-files.ts';

/** Throws `ToolFolderError`, which names everything that is wrong with the folder. */
export async function openToolBundle(folder: string): Promise<ToolBundle> {
  const files = await findToolFiles(path.resolve(folder));
  const kept = await readKeptBundle(files);
  return kept ?? bundleFiles(files);
}

/** Makes a new bundle, and stores it in the folder if that is writable. */
export async function buildToolBundle(folder: string): Promise<ToolBundle> {
  return bundleFiles(await findToolFiles(path.resolve(folder)));
}

async function bundleFiles(files: ToolFiles): Promise<ToolBundle> {
  const startedAt = Date.now();
  const { tools: manifest } = await readManifest(files, await activityNames(files));
  const withTool = (isPlain: boolean) =>
    files.modules.filter((module) =>
      manifest.some(({ file, executeMs }) => file === module && (executeMs !== undefined) === isPlain),
    );
  const [workflows, node] = await Promise.all([
    bundleToolWorkflows(files, withTool(false)),
    bundleNodeCode(files, withTool(true)),
  ]);
  const parts = { workflows: workflows.code, node: node.code, manifest };
  const bundle: ToolBundle = { hash: hashOf(parts), ...parts, pages: workflows.pages };
  const inputs = {
    authored: [
      ...workflows.sources,
      ...node.sources,
      ...files.modules.map((file) => path.join(files.folder, file)),
    ],
    runtime: [...workflows.runtime, ...node.runtime],
  };
  await keepBundle(files, bundle, inputs, startedAt);
  return bundle;
}

function hashOf({ workflows, node, manifest }: Omit<ToolBundle, 'hash'>): string {
  const hash = createHash('sha256');
  for (const part of [workflows, node, JSON.stringify(manifest)]) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 16);
}

const root = path.resolve(import.meta.dirname, '../../..');
const service = path.join(root, 'src');

const nothing: Code = { code: '', sources: [], runtime: [], pages: [], map: undefined };
const ours = (file: string) => JSON.stringify(path.join(root, file));

/** `modules`: those with a tool with `run`. */
function bundleToolWorkflows(files: ToolFiles, modules: string[]): Promise<Code> {
  if (modules.length === 0) return Promise.resolve(nothing);
  const { imports, listed } = importsOf(files, modules);
  const code = `${imports}
import { createDurableTool } from ${ours('src/workflows/durable-tool/durable-tool.ts')};
import { titleOf, toolsOf } from ${ours('packages/tools/src/describe-tools.ts')};
import { toRequestedSchema } from ${ours('packages/tools/src/requested-schema.ts')};
export { interceptors } from ${ours('src/workflows/durable-tool/sinks.ts')};
const definitions = toolsOf([${listed}]).map(({ definition }) => ({
  ...definition,
  title: titleOf(definition.name, definition.title ?? definition.annotations?.title),
}));
export const durableTool = createDurableTool(definitions, toRequestedSchema);
`;
  return bundleTools({ files, code, service }, 'esm');
}

/** `modules`: those with a tool with `execute`. */
function bundleNodeCode(files: ToolFiles, modules: string[]): Promise<Code> {
  const { folder, activities } = files;
  if (activities === undefined && modules.length === 0) return Promise.resolve(nothing);
  const { imports, listed } = importsOf(files, modules);
  const exported =
    activities === undefined
      ? 'export const activities = {};'
      : `export * as activities from ${JSON.stringify(path.join(folder, activities))};`;
  const code = `${imports}
import { plainToolsOf } from ${ours('packages/tools/src/describe-tools.ts')};
${exported}
export const tools = plainToolsOf([${listed}]);
`;
  return bundleForNode({ files, code, service });
}

function importsOf({ folder }: ToolFiles, modules: string[]): { imports: string; listed: string } {
  const imports = modules.map(
    (file, index) => `import * as module${index} from ${JSON.stringify(path.join(folder, file))};`,
  );
  const listed = modules.map((file, index) => `{ file: ${JSON.stringify(file)}, exports: module${index} }`);
  return { imports: imports.join('\n'), listed: listed.join(', ') };
}
