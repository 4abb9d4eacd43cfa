/**
 * Runs the author's definitions once to read the tools: in a context that cannot reach the service, or in a thread for modules
 * that need Node.
 */
import path from 'node:path';
import { createContext, Script } from 'node:vm';
import { problemsTogether } from '../describe-tools.ts';
import type { DescribedTools, ToolDescription } from '../describe-tools.ts';
import { activityNames, bundleForNode, bundleTools, placeInSources, postedInNode } from './bundle-code.ts';
import type { Code } from './bundle-code.ts';
import { findToolFiles, RefusedImports, ToolFolderError } from './tool-files.ts';
import type { ToolFiles } from './tool-files.ts';

/** Also of many tools on a busy machine. */
const longestLoadMs = 20_000;
/** Compiled in the package, TypeScript elsewhere. */
const describe = path.resolve(import.meta.dirname, `../describe-tools${path.extname(import.meta.filename)}`);

export interface Manifest {
  tools: ToolDescription[];
  /** Files that send users to pages, as far as the source shows it. */
  pages: string[];
  /** Suggestions for the author. */
  hints: string[];
}

interface Described extends Omit<DescribedTools, 'stacks'> {
  pages: string[];
}

/** `activities`: the exported names of the file of activities, if there is one. */
export async function readManifest(files: ToolFiles, activities: string[] | null): Promise<Manifest> {
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
  const bundled = await bundleTools(entryOf(files, activities), 'iife');
  return { ...readDescribed(run(bundled.code, files.folder), bundled, files), pages: bundled.pages };
}

async function describeForNode(files: ToolFiles, activities: string[] | null): Promise<Described> {
  const entry = entryOf(files, activities);
  entry.code +=
    "\nimport { parentPort } from 'node:worker_threads';\nparentPort.postMessage(await described);";
  const bundled = await bundleForNode(entry, activities ?? []);
  const text = await postedInNode(bundled.code, longestLoadMs).catch((error: unknown) => {
    throw new ToolFolderError(files.folder, [`they cannot be loaded: ${(error as Error).message}`]);
  });
  return { ...readDescribed(text, bundled, files), pages: [] };
}

/** Problems name the line that threw. */
function readDescribed(json: string, bundled: Code, { folder }: ToolFiles): Omit<DescribedTools, 'stacks'> {
  const { stacks, problems, ...described } = JSON.parse(json) as DescribedTools;
  const places = Object.entries(stacks).map(
    ([file, stack]) => [`${file}: it throws`, placeInSources(stack, bundled, folder)] as const,
  );
  return {
    ...described,
    problems: problems.map((problem) => {
      const [start = '', place] = places.find(([prefix]) => problem.startsWith(prefix)) ?? [];
      return place === undefined ? problem : `${place}: it throws${problem.slice(start.length)}`;
    }),
  };
}

function entryOf(files: ToolFiles, activities: string[] | null): { files: ToolFiles; code: string } {
  const modules = files.modules.map(
    (file) => `{ file: ${quoted(file)}, load: () => import(${quoted(path.join(files.folder, file))}) }`,
  );
  const code = `import { describeTools } from ${quoted(describe)};
export const described = describeTools([${modules.join(', ')}], ${quoted(activities)}).then(JSON.stringify);`;
  return { files, code };
}

/** Runs code with only the globals that workflows have: a definition that needs more would fail there. */
function run(code: string, folder: string): string {
  const globals = { URL, URLSearchParams, TextEncoder, TextDecoder, AbortController };
  // The modules are loaded in microtasks, which the time limit includes only this way. Outside, no promise of theirs can be awaited.
  const context = createContext(globals, { microtaskMode: 'afterEvaluate' });
  try {
    const ended = '(text) => (described = text), (error) => (failure = String(error))';
    const text = `var described, failure;\n${code};authored.described.then(${ended})`;
    const script = new Script(text, { filename: 'tools', lineOffset: -1 });
    script.runInContext(context, { timeout: longestLoadMs });
    const { described, failure = 'they wait for something' } = context as {
      described?: string;
      failure?: string;
    };
    if (described === undefined) throw new Error(failure);
    return described;
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
