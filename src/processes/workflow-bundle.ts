/**
 * The workflow bundle, which every worker runs. It is cached in `build/`, because bundling takes seconds, and used while every
 * file it was made from is unchanged; the image brings it along.
 */
import { hash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import type { BundleOptions } from '@temporalio/worker';

export interface WorkflowBundle {
  code: string;
  /** The same for the same code on every machine, and another one for other code. */
  buildId: string;
}

/** What a kept bundle was made from: paths in the repository, and what was in them. */
interface Origin {
  inputs: Record<string, string>;
  code: string;
}

interface Options {
  /** The module that exports the workflows. */
  entry?: string;
  /** Where the bundle is kept. */
  file?: string;
}

const root = path.resolve(import.meta.dirname, '../..');
/** Packages change only together with this file. */
const lockfile = 'package-lock.json';

export async function openWorkflowBundle({
  entry = path.join(root, 'src/workflows/index.ts'),
  file = path.join(root, 'build/workflows.js'),
}: Options = {}): Promise<WorkflowBundle> {
  const kept = await readKept(file);
  if (kept !== undefined) return toBundle(kept);
  const { code, inputs } = await bundle(entry);
  await keep(file, code, inputs);
  return toBundle(code);
}

async function toBundle(code: string): Promise<WorkflowBundle> {
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { code, buildId: `${version}-${hash('sha256', withoutSourceMap(code)).slice(0, 12)}` };
}

/** It names the folder of the checkout, which says nothing about the code. */
function withoutSourceMap(code: string): string {
  const start = code.lastIndexOf('\n//# sourceMappingURL=');
  return start === -1 ? code : code.slice(0, start);
}

async function bundle(entry: string): Promise<{ code: string; inputs: string[] }> {
  let files: string[] = [];
  const noteInputs: NonNullable<BundleOptions['webpackConfigHook']> = (config) => ({
    ...config,
    plugins: [
      ...(config.plugins ?? []),
      (compiler) =>
        compiler.hooks.done.tap('inputs', ({ compilation }) => {
          files = [...compilation.fileDependencies];
        }),
    ],
  });
  const { code } = await bundleWorkflowCode({
    workflowsPath: entry,
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: noteInputs,
  });
  const sources = files
    .map((file) => path.relative(root, file))
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('node_modules'));
  return { code, inputs: [lockfile, 'package.json', ...sources.toSorted()] };
}

/** One file, so that what was made and what it was made from cannot be mixed up. */
async function keep(file: string, code: string, inputs: string[]): Promise<void> {
  const entries = await Promise.all(inputs.map(async (name) => [name, await hashOfFile(name)] as const));
  const origin = { inputs: Object.fromEntries(entries), code: hash('sha256', code) };
  const draft = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(draft, `// ${JSON.stringify(origin)}\n${code}`);
    await rename(draft, file);
  } catch {
    // A folder that cannot be written to: it is bundled again the next time.
  }
}

/** Absent, or made from something else than what is there now: undefined. */
async function readKept(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, 'utf8');
    const end = text.indexOf('\n');
    const { inputs, code: codeHash } = JSON.parse(text.slice('// '.length, end)) as Origin;
    const names = Object.keys(inputs);
    const code = text.slice(end + 1);
    if (names.length === 0 || hash('sha256', code) !== codeHash) return undefined;
    const now = await Promise.all(names.map(hashOfFile));
    return now.every((value, index) => value === inputs[names[index] ?? '']) ? code : undefined;
  } catch {
    return undefined;
  }
}

async function hashOfFile(name: string): Promise<string> {
  return hash('sha256', await readFile(path.join(root, name)));
}
