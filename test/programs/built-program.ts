/** Programs in compiled languages, built once from a folder of this repository where the machine has the compiler. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { run as building, timed } from '../../scripts/setup/steps.mjs';
import { cacheFolder } from '../../scripts/setup/tools.mjs';
import { onPath } from './find-program.ts';

export type BuiltProgram = { executable: string } | { missing: string };

const run = promisify(execFile);

/** The servers and clients of the SDK for Go and of mcp-go. */
export function goProgram(): Promise<BuiltProgram> {
  return builtProgram({
    folder: path.join(import.meta.dirname, 'go-peer'),
    files: ['main.go', 'client.go', 'server.go', 'go.mod', 'go.sum'],
    language: 'Go',
    compiler: compilerAt('go', '/usr/local/go/bin/go'),
    async build(go, folder, draft) {
      await run(go, ['build', '-o', draft, '.'], { cwd: folder });
    },
  });
}

/** The server and the client of `rmcp`. The first build takes minutes. */
export function rmcpProgram(): Promise<BuiltProgram> {
  return builtProgram({
    folder: path.join(import.meta.dirname, 'rmcp'),
    files: ['Cargo.toml', 'Cargo.lock', 'src/main.rs', 'src/client.rs', 'src/server.rs'],
    language: 'Rust',
    compiler: compilerAt('cargo', path.join(homedir(), '.cargo/bin/cargo')),
    async build(cargo, folder, draft) {
      const target = path.join(cacheFolder, 'rmcp-target');
      await run(cargo, ['build', '--locked', '--quiet', '--target-dir', target], { cwd: folder });
      await rename(path.join(target, 'debug/rmcp-peer'), draft);
    },
  });
}

/** A program of a Go module in this folder, whose `go.sum` pins it. */
export function goTool(
  folder: string,
  name: string,
  { goPackage = '.', variables = {} }: { goPackage?: string; variables?: Record<string, string> } = {},
): Promise<BuiltProgram> {
  const set = Object.entries(variables).map(([variable, value]) => ` -X ${variable}=${value}`);
  const flags = `-ldflags=-s -w${set.join('')}`;
  const at = path.join(import.meta.dirname, folder);
  return builtProgram({
    folder: at,
    name,
    files: ['go.mod', 'go.sum', ...(goPackage === '.' ? ['main.go'] : [])],
    flags,
    language: 'Go',
    compiler: compilerAt('go', '/usr/local/go/bin/go'),
    build: (go, cwd, draft) =>
      timed(`building ${name} with Go (once, minutes)`, () =>
        building(go, ['build', '-trimpath', flags, '-o', draft, goPackage], { cwd }),
      ),
  });
}

function compilerAt(name: string, usual: string): string | undefined {
  return onPath([name]) ?? (existsSync(usual) ? usual : undefined);
}

async function builtProgram({
  folder,
  name = path.basename(folder),
  files,
  flags = '',
  language,
  compiler,
  build,
}: {
  folder: string;
  name?: string;
  files: string[];
  flags?: string;
  language: string;
  compiler: string | undefined;
  build(compiler: string, folder: string, draft: string): Promise<unknown>;
}): Promise<BuiltProgram> {
  const sources = await Promise.all(files.map((file) => readFile(path.join(folder, file))));
  const hash = createHash('sha256').update(Buffer.concat(sources)).update(flags).digest('hex').slice(0, 12);
  const executable = path.join(cacheFolder, `${name}-${hash}`);
  if (existsSync(executable)) return { executable };
  if (compiler === undefined) return { missing: `this machine has no ${language}` };
  const draft = `${executable}.${process.pid}`;
  try {
    await mkdir(cacheFolder, { recursive: true });
    await build(compiler, folder, draft);
    await rename(draft, executable);
    return { executable };
  } catch (error) {
    const lines = String(error).trim().split('\n');
    const why = lines.find((line) => line.startsWith('error')) ?? lines.at(-1);
    return { missing: `the program in ${language} cannot be built: ${why}` };
  }
}
