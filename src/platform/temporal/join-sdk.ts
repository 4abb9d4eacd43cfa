/**
 * Joins workflow code with the Temporal SDK of this process. Workflow code is stored without the SDK, as one module that
 * imports `@temporalio/*`, because it must survive upgrades of the SDK, which refuses bundles of its other versions.
 *
 * Joining takes more than a second, so results are cached in `build/`, by the module and the SDK's version. Nothing is
 * cached if the folder is read-only. The cache is trusted as much as the code beside it.
 */
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { BundleOptions } from '@temporalio/worker';

interface WorkflowModule {
  /** JavaScript that exports workflows, and `interceptors` if it has some. Its only imports are `@temporalio/*`. */
  code: string;
  hasInterceptors?: boolean;
}

type Webpack = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

const root = path.resolve(import.meta.dirname, '../../..');
const cache = path.join(root, 'build/joined');
/** Each is about a megabyte. The least recently used are deleted. */
const cachedAtMost = 20;
const require = createRequire(import.meta.url);
/** Where Temporal's SDK is installed. */
const packages = path.resolve(require.resolve('@temporalio/worker/package.json'), '../../..');
const { version: sdkVersion } = require('@temporalio/worker/package.json') as { version: string };

/** Returns a worker's `workflowBundle`. */
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
 * The source map would double the size of the bundle, and contain a path of this machine. Without it, stack traces show
 * lines of the bundle, in which functions keep their names. The worker needs a map for the name of the file.
 */
function withoutSourceMap(code: string): string {
  const mark = '\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const start = code.lastIndexOf(mark);
  if (start === -1) return code;
  const empty = { version: 3, file: 'workflows.js', sources: [], names: [], mappings: '' };
  return code.slice(0, start) + mark + Buffer.from(JSON.stringify(empty)).toString('base64');
}

/** Each workflow evaluates all modules again, so one module is faster, and so is modern syntax. */
function asOneModule(config: Webpack): Webpack {
  for (const rule of config.module?.rules ?? []) {
    if (typeof rule !== 'object' || rule === null || typeof rule.use !== 'object') continue;
    const { options } = rule.use as { options?: { jsc?: { target: string } } };
    if (options?.jsc) options.jsc.target = 'es2022';
  }
  return {
    ...config,
    // The module is in another folder, but must find our packages.
    resolve: {
      ...config.resolve,
      modules: [...(config.resolve?.modules ?? ['node_modules']), packages],
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

/** The first line is the hash of the rest, so that a truncated file is not used. */
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
