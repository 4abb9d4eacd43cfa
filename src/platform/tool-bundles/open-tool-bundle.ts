/**
 * Opens the bundle of a folder of tools: the cached one if nothing has changed, otherwise a new one, which takes seconds.
 *
 * A bundle has two modules: the tools with `run` and their runtime, without Temporal's SDK (see temporal/join-sdk.ts); and
 * for Node, the tools with `execute` together with the activities, so that both share what they import.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import {
  activityNames,
  bundleForNode,
  bundleTools,
  loadForNode,
} from '@interlude-ai/tools/bundle/bundle-code.ts';
import type { Code } from '@interlude-ai/tools/bundle/bundle-code.ts';
import { keepBundle, readKeptBundle } from './tool-bundle.ts';
import type { ToolBundle } from './tool-bundle.ts';
import { findToolFiles, RefusedImports, ToolFolderError } from '@interlude-ai/tools/bundle/tool-files.ts';
import type { ToolFiles } from '@interlude-ai/tools/bundle/tool-files.ts';
import { createContext, Script } from 'node:vm';
import { problemsTogether } from '@interlude-ai/tools/describe-tools.ts';
import type { DescribedTools, ToolDescription } from '@interlude-ai/tools/describe-tools.ts';

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
  await keepBundle(files, bundle, {
    authored: [
      ...workflows.sources,
      ...node.sources,
      ...files.modules.map((file) => path.join(files.folder, file)),
    ],
    runtime: [...workflows.runtime, ...node.runtime],
  });
  return bundle;
}

function hashOf({ workflows, node, manifest }: Omit<ToolBundle, 'hash'>): string {
  const hash = createHash('sha256');
  for (const part of [workflows, node, JSON.stringify(manifest)]) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 16);
}

const root = path.resolve(import.meta.dirname, '../../..');
const service = path.join(root, 'src');

const nothing: Code = { code: '', sources: [], runtime: [], pages: [] };
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

const longestLoadMs = 5_000;
/** Compiled in the package, TypeScript elsewhere. */
const describe = path.resolve(
  import.meta.dirname,
  `../../../packages/tools/src/describe-tools${path.extname(import.meta.filename)}`,
);

interface Manifest {
  tools: ToolDescription[];
  /** Files that send users to pages, as far as the source shows it. */
  pages: string[];
  /** Suggestions for the author. */
  hints: string[];
}

interface Described extends DescribedTools {
  pages: string[];
}

/** `activities`: the exported names of the file of activities, if there is one. */
/**
 * Runs the author's definitions once to read the tools: in a context that cannot reach the service, or in this process for
 * modules that need Node.
 */
async function readManifest(files: ToolFiles, activities: string[] | null): Promise<Manifest> {
  const described = await describeAll(files, activities);
  const order = ({ file }: ToolDescription) => files.modules.indexOf(file);
  const problems = [...described.problems, ...problemsTogether(described, files.modules)];
  if (problems.length > 0) throw new ToolFolderError(files.folder, problems);
  const { tools, pages, hints } = described;
  return { tools: tools.toSorted((one, other) => order(one) - order(other)), pages, hints };
}

/**
 * Loads all modules together, as workflows would. A module that imports what a workflow may not is loaded in Node instead;
 * its tools can only have `execute`.
 */
async function describeAll(files: ToolFiles, activities: string[] | null): Promise<Described> {
  try {
    return await describeForWorkflows(files, activities);
  } catch (error) {
    if (!(error instanceof RefusedImports)) throw error;
  }
  const refused = new Map<string, readonly string[]>();
  for (const file of files.modules)
    await bundleTools(entryOf({ ...files, modules: [file] }, activities), 'iife').catch((error: unknown) => {
      if (!(error instanceof RefusedImports)) throw error;
      refused.set(file, error.problems);
    });
  const [portable, forNode] = [false, true].map((is) =>
    files.modules.filter((file) => refused.has(file) === is),
  ) as [string[], string[]];
  const parts = await Promise.all([
    describeForWorkflows({ ...files, modules: portable }, activities),
    describeForNode({ ...files, modules: forNode }, activities),
  ]);
  const [, { tools }] = parts;
  const asking = new Set(tools.flatMap(({ file, executeMs }) => (executeMs === undefined ? file : [])));
  const imports = [...asking].flatMap((file) => refused.get(file) ?? []);
  return {
    tools: parts.flatMap((part) => part.tools),
    problems: [...parts.flatMap((part) => part.problems), ...new Set(imports)],
    hints: parts.flatMap((part) => part.hints),
    named: parts.flatMap((part) => part.named),
    pages: parts.flatMap((part) => part.pages),
  };
}

async function describeForWorkflows(files: ToolFiles, activities: string[] | null): Promise<Described> {
  const { code, pages } = await bundleTools(entryOf(files, activities), 'iife');
  return { ...(JSON.parse(await run(code, files.folder)) as DescribedTools), pages };
}

async function describeForNode(files: ToolFiles, activities: string[] | null): Promise<Described> {
  const { code } = await bundleForNode(entryOf(files, activities), activities ?? []);
  const loaded = await loadForNode(code, { timeoutMs: longestLoadMs }).catch((error: unknown) => {
    throw new ToolFolderError(files.folder, [`they cannot be loaded: ${(error as Error).message}`]);
  });
  return { ...(JSON.parse(await (loaded['described'] as Promise<string>)) as DescribedTools), pages: [] };
}

function entryOf(files: ToolFiles, activities: string[] | null): { files: ToolFiles; code: string } {
  const modules = files.modules.map(
    (file) => `{ file: ${quoted(file)}, load: () => import(${quoted(path.join(files.folder, file))}) }`,
  );
  const code = `import { describeTools } from ${quoted(describe)};
const described = describeTools([${modules.join(', ')}], ${quoted(activities)}).then(JSON.stringify);`;
  return { files, code };
}

/** Runs code with only the globals that workflows have: a definition that needs more would fail there. */
async function run(code: string, folder: string): Promise<string> {
  const context = createContext({ URL, URLSearchParams, TextEncoder, TextDecoder, AbortController });
  try {
    const script = new Script(`${code};authored.described`, { filename: 'tools' });
    return await (script.runInContext(context, { timeout: longestLoadMs }) as Promise<string>);
  } catch (error) {
    throw new ToolFolderError(folder, [`they cannot be loaded: ${(error as Error).message}`]);
  }
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}

/** Reads the tools of a folder. Throws `ToolFolderError`, which names every mistake. Much faster than bundling. */
export async function checkToolFolder(folder: string): Promise<Manifest> {
  const files = await findToolFiles(path.resolve(folder));
  return readManifest(files, await activityNames(files));
}
