/**
 * Bundles an author's code into one file with rolldown: tools that ask for workflows, everything else for Node. The output
 * does not depend on where the folder is.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin, SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { OutputOptions, Plugin, RolldownBuild } from 'rolldown';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { RefusedImports, ToolFolderError } from './tool-files.ts';
import type { ToolFiles } from './tool-files.ts';

const tools = path.resolve(import.meta.dirname, '..');
/** The folder of our packages. */
const packages = path.resolve(import.meta.dirname, '../../..');
/** The extension of the service's own modules: compiled in the package, TypeScript elsewhere. */
const extension = path.extname(import.meta.filename);
const entryName = '\0interlude:entry';

/** Node modules that workflows may import. */
const allowed = new Set(['assert', 'url', 'util']);

interface Entry {
  files: ToolFiles;
  code: string;
  /** The folder of the service's modules that the code imports, if it does. */
  service?: string;
}

export interface Code {
  code: string;
  /** The author's bundled files, without packages. */
  sources: string[];
  /** The service's own bundled files. */
  runtime: string[];
  /** Names of the author's files that send users to pages, as far as the source shows it. */
  pages: string[];
  map: SourceMapPayload | undefined;
}

/**
 * For workflows. Throws `RefusedImports` for imports that workflows may not have, if nothing else is wrong. An `esm` module
 * keeps its imports of Temporal's SDK.
 */
export async function bundleTools({ files, code, service }: Entry, format: 'esm' | 'iife'): Promise<Code> {
  const refused = new Set<string>();
  const isOurs = ownedBy(service);
  const plugins = [entryOf(code), packagesOf(files.folder, isOurs), refuseImports(files, refused)];
  const external = format === 'esm' ? [/^@temporalio\/(workflow|common)/] : [];
  const bundled = await build(files, refused, { plugins, platform: 'neutral', external, isOurs }, format);
  if (refused.size > 0) throw new RefusedImports(files.folder, [...refused]);
  return bundled;
}

/** The exported names of the file of activities; null if there is no such file. */
export async function activityNames(files: ToolFiles): Promise<string[] | null> {
  const { folder, activities } = files;
  if (activities === undefined) return null;
  const code = `export * from ${JSON.stringify(path.join(folder, activities))};\n`;
  return (await bundleForNode({ files, code })).exports;
}

/** For Node, including packages. `stubs`: replaces the file of activities by functions with these names. */
export function bundleForNode({ files, code, service }: Entry, stubs?: readonly string[]): Promise<Bundled> {
  const isOurs = ownedBy(service);
  const plugins = [
    entryOf(code),
    packagesOf(files.folder, isOurs),
    ...(stubs ? [withoutActivities(files, stubs)] : []),
  ];
  return build(files, new Set(), { plugins, platform: 'node', isOurs }, 'esm');
}

type Bundled = Code & { exports: string[] };

async function build(
  { folder }: ToolFiles,
  refused: ReadonlySet<string>,
  {
    plugins,
    platform,
    external = [],
    isOurs,
  }: { plugins: Plugin[]; platform: 'neutral' | 'node'; external?: RegExp[]; isOurs: IsOurs },
  format: 'esm' | 'iife',
): Promise<Bundled> {
  const problems = new Set<string>();
  const output: OutputOptions = {
    format,
    name: 'authored',
    codeSplitting: false,
    comments: false,
    sourcemap: 'hidden',
    dir: folder,
  };
  // Loads a compiler, which cached bundles do not need.
  const { rolldown } = await import('rolldown');
  let bundle: RolldownBuild | undefined;
  try {
    bundle = await rolldown({
      input: entryName,
      cwd: folder,
      platform,
      plugins,
      external,
      resolve: { mainFields: ['module', 'main'] },
      // Debug info would contain the paths of modules.
      experimental: { attachDebugInfo: 'none' },
      onLog: (_, { code, message, loc }) => {
        if (code === 'UNRESOLVED_IMPORT') problems.add(firstLine(message));
        // Packages look for what newer versions export.
        if (code === 'IMPORT_IS_UNDEFINED' && loc?.file !== undefined && !isOfPackage(loc.file))
          problems.add(`${placeOf(loc, folder)}: ${missingExport(message, folder)}`);
      },
    });
    const generated = await bundle.generate(output);
    const [chunk] = generated.output;
    if (problems.size > 0) throw new ToolFolderError(folder, [...refused, ...problems]);
    const files = chunk.moduleIds.filter((id) => path.isAbsolute(id) && (isOurs(id) || !isOfPackage(id)));
    const [runtime = [], sources = []] = [true, false].map((own) => files.filter((id) => isOurs(id) === own));
    const pages = sources
      .filter((id) => /\bmode:\s*["'`]url["'`]/.test(chunk.modules[id]?.code ?? ''))
      .map((id) => nameIn(folder, id));
    const map = chunk.map as SourceMapPayload | null;
    return { code: chunk.code, sources, runtime, pages, map: map ?? undefined, exports: chunk.exports };
  } catch (error) {
    if (error instanceof ToolFolderError) throw error;
    throw new ToolFolderError(folder, [...refused, ...problems, ...problemsOf(error, folder)]);
  } finally {
    await bundle?.close();
  }
}

function isOfPackage(id: string): boolean {
  return id.includes(`${path.sep}node_modules${path.sep}`);
}

/** Whether a module is ours, not the author's. An installed service is itself below `node_modules`. */
type IsOurs = (id: string) => boolean;

function ownedBy(service: string | undefined): IsOurs {
  const folders = [packages, ...(service === undefined ? [] : [service])];
  return (id) => folders.some((folder) => id.startsWith(folder + path.sep));
}

function entryOf(code: string): Plugin {
  return {
    name: 'entry',
    resolveId: (source) => (source === entryName ? source : null),
    load: (id) => (id === entryName ? { code, moduleType: 'js' } : null),
  };
}

/** `@interlude-ai/tools` is always ours. There is one copy of zod: the author's, unless it is missing or older than 4. */
function packagesOf(folder: string, isOurs: IsOurs): Plugin {
  const fromHere = createRequire(import.meta.filename);
  const fromFolder = createRequire(path.join(folder, 'tool.js'));
  const own = zodIn(fromFolder) ?? zodIn(fromHere);
  return {
    name: 'packages',
    async resolveId(source, importer) {
      if (source === '@interlude-ai/tools') return path.join(tools, `index${extension}`);
      if (source !== 'zod' && !source.startsWith('zod/')) return null;
      const found =
        importer === undefined || isOurs(importer)
          ? null
          : await this.resolve(source, importer, { skipSelf: true });
      return found ?? (own ? this.resolve(source, own, { skipSelf: true }) : null);
    },
  };
}

/** A file of zod 4; undefined if there is none. */
function zodIn(require: NodeJS.Require): string | undefined {
  try {
    const manifest = require.resolve('zod/package.json');
    const { version } = require(manifest) as { version: string };
    return Number(version.split('.', 1)[0]) >= 4 ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the file of activities, which may need things that exist only when tools run. */
function withoutActivities({ folder, activities }: ToolFiles, names: readonly string[]): Plugin {
  const stub = '\0interlude:activities';
  return {
    name: 'without-activities',
    async resolveId(source, importer) {
      if (activities === undefined || source === stub) return source === stub ? source : null;
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      return resolved?.id === path.join(folder, activities) ? stub : null;
    },
    load: (id) =>
      id === stub
        ? {
            code: names.map((name) => `export const ${name} = () => undefined;\n`).join(''),
            moduleType: 'js',
          }
        : null,
  };
}

function refuseImports({ folder, activities }: ToolFiles, refused: Set<string>): Plugin {
  const importers = new Map<string, string>();
  /** The author's own file that leads to an import, and the package between them. */
  const wayTo = (importer: string | undefined): { file: string; through: string } => {
    let at = importer ?? '';
    let through = '';
    const seen = new Set<string>();
    while (at.includes(`${path.sep}node_modules${path.sep}`) && importers.has(at) && !seen.has(at)) {
      seen.add(at);
      through = packageOf(at);
      at = importers.get(at) ?? '';
    }
    return { file: nameIn(folder, at), through };
  };
  return {
    name: 'imports-of-workflows',
    async resolveId(source, importer) {
      const bare = source.replace(/^node:/, '');
      if (isBuiltin(source) || /^@temporalio\/(activity|client|worker)/.test(source)) {
        if (allowed.has(bare)) return null;
        const { file, through } = wayTo(importer);
        const what = through === '' ? `imports ${source}` : `imports ${through}, which imports ${source}`;
        refused.add(`${file}: it ${what}, which a workflow may not; move what needs it into activities.ts`);
        return { id: source, external: true };
      }
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      if (!resolved) return null;
      if (importer !== undefined && !importers.has(resolved.id)) importers.set(resolved.id, importer);
      if (activities !== undefined && resolved.id === path.join(folder, activities)) {
        const token = `activities<typeof import('./${activities}')>()`;
        refused.add(
          `${nameIn(folder, importer ?? '')}: it imports ${activities} itself, which a workflow may not; write ${token} and import only types`,
        );
        return { id: resolved.id, external: true };
      }
      return resolved;
    },
  };
}

function nameIn(folder: string, file: string): string {
  return path.relative(folder, file) || file;
}

function packageOf(id: string): string {
  const [, name = id] = /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(id) ?? [];
  return name;
}

interface Place {
  file?: string;
  line: number;
  column: number;
}

interface RolldownProblem {
  message?: string;
  id?: string;
  loc?: Place;
}

function problemsOf(error: unknown, folder: string): string[] {
  const { errors, message } = error as { errors?: RolldownProblem[]; message?: string };
  return (errors ?? [{ message: message ?? String(error) }]).map(({ message: words = '', id, loc }) => {
    const file = loc?.file ?? id;
    if (file === undefined || file.startsWith('\0')) return firstLine(words);
    return `${loc ? placeOf({ ...loc, file }, folder) : nameIn(folder, file)}: ${firstLine(words)}`;
  });
}

/** As editors count: rolldown counts columns from 0. */
function placeOf({ file = '', line, column }: Place, folder: string): string {
  return `${nameIn(folder, file)}:${line}:${column + 1}`;
}

/** For "Import `strng` will always be undefined because there is no matching export in '…/zod/…'". */
function missingExport(message: string, folder: string): string {
  const [, name, from = ''] = /Import `(.+?)` .* in '(.+?)'/.exec(firstLine(message)) ?? [];
  const source = isOfPackage(from) ? packageOf(from) : nameIn(folder, path.resolve(folder, from));
  return `${source} exports no ${name}`;
}

/** Where an author's code is in a bundle: the first line of the stack that is in their files, as file, line and column. */
export function placeInSources(stack: string, { map, sources }: Code, folder: string): string | undefined {
  if (!map) return undefined;
  const origins = new SourceMap(map);
  for (const [, line, column] of stack.matchAll(/:(\d+):(\d+)\)?$/gm)) {
    const found = origins.findOrigin(Number(line), Number(column));
    if (!('fileName' in found)) continue;
    const file = path.resolve(folder, found.fileName);
    if (sources.includes(file)) return `${nameIn(folder, file)}:${found.lineNumber}:${found.columnNumber}`;
  }
  return undefined;
}

function firstLine(message: string): string {
  return (
    stripVTControlCharacters(message)
      .split('\n')
      .find((line) => line.trim() !== '') ?? message
  ).trim();
}

/** Loads an author's module for Node from its text. Rejects if that takes too long: its code waits outside of functions. */
export function loadForNode(
  code: string,
  { timeoutMs, name = 'tools' }: { timeoutMs: number; name?: string },
): Promise<Record<string, unknown>> {
  return withFile(code, name, async (file) => {
    const loading = import(pathToFileURL(file).href) as Promise<Record<string, unknown>>;
    return (await withTimeout(loading, timeoutMs, null)) ?? notLoaded(timeoutMs);
  });
}

/**
 * The text that a module for Node posts to its parent. It runs in a thread, which can be ended even in an endless loop. A child
 * process would show our environment in `/proc`.
 */
export function postedInNode(code: string, timeoutMs: number): Promise<string> {
  return withFile(code, 'tools', async (file) => {
    const thread = new Worker(file);
    try {
      const first = Promise.race([once(thread, 'message'), once(thread, 'exit')]) as Promise<[unknown]>;
      const [posted] = (await withTimeout(first, timeoutMs, null)) ?? notLoaded(timeoutMs);
      if (typeof posted === 'string') return posted;
      throw new Error('their code ends early: look for process.exit or an await outside of the functions');
    } finally {
      await thread.terminate();
    }
  });
}

function notLoaded(timeoutMs: number): never {
  throw new Error(
    `not loaded within ${timeoutMs / 1000} s: look for a loop or an await outside of the functions`,
  );
}

/** In a folder that only we can read and write, and that is removed afterwards. */
async function withFile<T>(code: string, name: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-tools-'));
  try {
    const file = path.join(folder, `${name}.mjs`);
    await writeFile(file, code, { mode: 0o600 });
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
