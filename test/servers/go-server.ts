/** Servers made with Go's SDK and with mcp-go, built once from `go-server/` where the machine has Go. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../scripts/setup/tools.mjs';
import { freePort } from '../free-port.ts';
import { onPath } from '../programs/on-path.ts';
import { startPeer } from './everything-server.ts';
import type { FastMCPStart } from './fastmcp.ts';

export const goVersions = { sdk: '1.8.0', 'mcp-go': '1.2.1' } as const;

type GoMode = 'sessions' | 'events' | 'stateless';

const source = path.join(import.meta.dirname, 'go-server');

/** The program; a text says why there is none. */
export async function goProgram(): Promise<{ executable: string } | { missing: string }> {
  const go = onPath(['go']) ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined);
  if (go === undefined) return { missing: 'this machine has no Go' };
  const files = await Promise.all(
    ['main.go', 'go.mod', 'go.sum'].map((file) => readFile(path.join(source, file))),
  );
  const kind = createHash('sha256').update(Buffer.concat(files)).digest('hex').slice(0, 12);
  const executable = path.join(cacheFolder, `go-server-${kind}`);
  if (existsSync(executable)) return { executable };
  const draft = `${executable}.${process.pid}`;
  try {
    await mkdir(cacheFolder, { recursive: true });
    await promisify(execFile)(go, ['build', '-o', draft, '.'], { cwd: source });
    await rename(draft, executable);
    return { executable };
  } catch (error) {
    return { missing: `the server in Go cannot be built: ${String(error).split('\n').at(-1)}` };
  }
}

export async function startGo(library: keyof typeof goVersions, mode: GoMode): Promise<FastMCPStart> {
  const program = await goProgram();
  if ('missing' in program) return { kind: 'missing', why: program.missing };
  const port = await freePort();
  const server = await startPeer(program.executable, [library, mode, String(port)], {
    env: {},
    url: `http://127.0.0.1:${port}/mcp`,
    ready: /listening on/,
  });
  const did = () => [...server.output().matchAll(/^did: (.*)$/gm)].map(([, what = '']) => what);
  return { kind: 'ready', server: { ...server, did } };
}
