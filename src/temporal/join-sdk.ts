/**
 * Joins workflow code with the Temporal SDK of this process. Workflow code is kept without the SDK, as one module that imports
 * `@temporalio/*`: the SDK refuses a bundle that another of its versions made, and the code has to outlive an upgrade of it.
 *
 * Joining takes more than a second, so that results are cached in `build/`, by the module and the SDK's version. A folder that
 * cannot be written to caches nothing. The cache is trusted as much as the code beside it.
 */
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import type { BundleOptions } from '@temporalio/worker';

export interface WorkflowModule {
  /** JavaScript that exports workflows, and `interceptors` where it has some. Its only imports are `@temporalio/*`. */
  code: string;
  hasInterceptors?: boolean;
}

type Webpack = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, 'build/joined');
/** Each is about a megabyte. What was not used for longest goes first. */
const cachedAtMost = 20;
const require = createRequire(import.meta.url);
const { version: sdkVersion } = require('@temporalio/worker/package.json') as { version: string };

/** What a worker takes as its `workflowBundle`. */
export async function joinWithSdk({
  code: source,
  hasInterceptors = false,
}: WorkflowModule): Promise<{ code: string }> {
  const module = { code: source, hasInterceptors };
  const file = path.join(cache, `${hash('sha256', JSON.stringify([sdkVersion, module]))}.js`);
  const cached = await readCached(file);
  if (cached !== null) return { code: cached };
  const code = await join(module);
  await keep(file, code);
  return { code };
}

async function join({ code, hasInterceptors }: Required<WorkflowModule>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-workflows-'));
  try {
    const file = path.join(folder, 'workflows.mjs');
    await writeFile(file, code, { mode: 0o600 });
    const joined = await bundleWorkflowCode({
      workflowsPath: file,
      workflowInterceptorModules: hasInterceptors ? [file] : [],
      logger: new DefaultLogger('WARN'),
      webpackConfigHook: asOneModule,
    });
    return withoutSourceMap(joined.code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The map from the bundle to its modules would double its size, and name a folder of this machine. Without it, stacks name
 * lines of the bundle, in which functions keep their names. The worker reads the name of the file from the map.
 */
function withoutSourceMap(code: string): string {
  const mark = '\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const start = code.lastIndexOf(mark);
  if (start === -1) return code;
  const empty = { version: 3, file: 'workflows.js', sources: [], names: [], mappings: '' };
  return code.slice(0, start) + mark + Buffer.from(JSON.stringify(empty)).toString('base64');
}

/** Each workflow evaluates all modules anew: one is faster and smaller than many, and so is syntax that V8 knows. */
function asOneModule(config: Webpack): Webpack {
  for (const rule of config.module?.rules ?? []) {
    if (typeof rule !== 'object' || rule === null || typeof rule.use !== 'object') continue;
    const { options } = rule.use as { options?: { jsc?: { target: string } } };
    if (options?.jsc) options.jsc.target = 'es2022';
  }
  return {
    ...config,
    // The module lies outside of this folder, and means its packages.
    resolve: {
      ...config.resolve,
      modules: [...(config.resolve?.modules ?? ['node_modules']), path.join(root, 'node_modules')],
    },
    optimization: {
      ...config.optimization,
      concatenateModules: true,
      providedExports: true,
      usedExports: true,
      sideEffects: true,
      minimize: false,
    },
  };
}

/** The first line is the hash of the rest: a file that was cut off is not used. */
async function readCached(file: string): Promise<string | null> {
  try {
    const text = await readFile(file, 'utf8');
    const end = text.indexOf('\n');
    const code = text.slice(end + 1);
    if (text.slice('// '.length, end) !== hash('sha256', code)) return null;
    const now = new Date();
    await utimes(file, now, now).catch(() => undefined);
    return code;
  } catch {
    return null;
  }
}

async function keep(file: string, code: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  try {
    await mkdir(cache, { recursive: true });
    await writeFile(draft, `// ${hash('sha256', code)}\n${code}`);
    await rename(draft, file);
    await dropOldest();
  } catch {
    // The folder is read-only: it is joined again at the next start.
  }
}

async function dropOldest(): Promise<void> {
  const files = (await readdir(cache)).map((name) => path.join(cache, name));
  if (files.length <= cachedAtMost) return;
  const dated = await Promise.all(files.map(async (file) => ({ file, at: (await stat(file)).mtimeMs })));
  const oldest = dated.toSorted((one, other) => other.at - one.at).slice(cachedAtMost);
  await Promise.all(oldest.map(({ file }) => rm(file, { force: true })));
}
