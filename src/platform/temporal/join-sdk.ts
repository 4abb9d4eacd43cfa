/**
 * Joins workflow code with the Temporal SDK of this process. Workflow code is stored without the SDK, as one module that
 * imports `@temporalio/*`, because it must survive upgrades of the SDK, which refuses bundles of its other versions.
 *
 * The SDK's bundler takes a second, so it bundles the SDK once, around a place for the code. The result is cached in
 * `build/`, by the SDK's version; nothing is cached if the folder is read-only. The cache is trusted as much as the code
 * beside it.
 */
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { BundleOptions } from '@temporalio/worker';

type Webpack = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

const root = path.resolve(import.meta.dirname, '../../..');
const cache = path.join(root, 'build/joined');
const require = createRequire(import.meta.url);
/** Where Temporal's SDK is installed. */
const packages = path.resolve(require.resolve('@temporalio/worker/package.json'), '../../..');
const { version: sdkVersion } = require('@temporalio/worker/package.json') as { version: string };

const place = '__INTERLUDE_WORKFLOWS__';
const around = `
const sdk = { '@temporalio/workflow': require('@temporalio/workflow'), '@temporalio/common': require('@temporalio/common') };
module.exports = ${place}((name) => {
  if (!(name in sdk)) throw new Error('Workflow code imports ' + name + ', which is not there.');
  return sdk[name];
});
`;

let bundled: Promise<string> | undefined;

/** Returns a worker's `workflowBundle`. `code`: exports workflows, and `interceptors` if it has some. */
export async function joinWithSdk({ code }: { code: string }): Promise<{ code: string }> {
  bundled ??= bundleSdk().catch((error: unknown) => {
    bundled = undefined;
    throw error;
  });
  const [before = '', after = ''] = (await bundled).split(place);
  return { code: `${before}(${toFunction(code)})${after}` };
}

const importLine =
  /^import (?:\* as (?<all>[\w$]+) from |\{(?<some>[^}]*)\} from |(?<one>[\w$]+) from )?"(?<from>@temporalio\/[^"]+)";\n/;
const exportStart = '\nexport {';

/** A module as rolldown writes it, with its imports first and one export last, as a function of `require`. */
function toFunction(code: string): string {
  const head: string[] = [];
  let rest = code;
  for (let found = importLine.exec(rest)?.groups; found; found = importLine.exec(rest)?.groups) {
    rest = rest.replace(importLine, '');
    const { all, some, one, from } = found;
    const names = some === undefined ? (all ?? one) : `{${some.replaceAll(' as ', ': ')}}`;
    head.push(`${names === undefined ? '' : `const ${names} = `}require(${JSON.stringify(from)});`);
  }
  const end = rest.lastIndexOf(exportStart);
  const [names, after] = rest.slice(end + exportStart.length).split('};');
  if (end < 0 || names === undefined || after?.trim() !== '')
    throw new Error('The workflow code has no export at its end.');
  const exported = names.split(',').map((name) => name.trim().replace(/^(\S+) as (\S+)$/, '$2: $1'));
  const body = `${rest.slice(0, end)}\nreturn { ${exported.join(', ')} };`;
  return `function (require) {\n'use strict';\n${head.join('\n')}\n${body}\n}`;
}

async function bundleSdk(): Promise<string> {
  const file = path.join(cache, `${hash('sha256', JSON.stringify([sdkVersion, around]))}.js`);
  const cached = await readCached(file);
  if (cached !== null) return cached;
  const code = await bundleAround();
  await keep(file, code);
  return code;
}

async function bundleAround(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-workflows-'));
  try {
    const file = path.join(folder, 'workflows.cjs');
    await writeFile(file, around, { mode: 0o600 });
    const joined = await bundleWorkflowCode({
      workflowsPath: file,
      workflowInterceptorModules: [file],
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
  } catch {
    // The folder is read-only: it is bundled again at the next start.
  }
}
