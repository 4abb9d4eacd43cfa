/** Servers of FastMCP for Python: its third version speaks the old era, its fourth both. */
import path from 'node:path';
import { freePort } from '../free-port.ts';
import { startPeer } from './everything-server.ts';
import type { PeerProcess } from './everything-server.ts';
import { pythonWith } from '../programs/python-package.ts';

export const fastmcpVersions = { third: '3.4.5', fourth: '4.1.0' } as const;

export interface FastMCP extends PeerProcess {
  /** What it says it did, in its order: `book Lisbon for 3`. */
  did(): string[];
}

export type FastMCPStart = { kind: 'ready'; server: FastMCP } | { kind: 'missing'; why: string };

export function startFastMCP(
  version: keyof typeof fastmcpVersions,
  { hasEventIds }: { hasEventIds: boolean },
): Promise<FastMCPStart> {
  return startPython(version, 'fastmcp-server.py', [hasEventIds ? 'events' : 'plain']);
}

/** The SDK for Python 2.3.0, which comes with FastMCP's fourth version. */
export function startPythonSdk(): Promise<FastMCPStart> {
  return startPython('fourth', 'python-sdk-server.py', []);
}

async function startPython(
  version: keyof typeof fastmcpVersions,
  file: string,
  more: string[],
): Promise<FastMCPStart> {
  const python = await pythonWith('fastmcp', fastmcpVersions[version]);
  if (python.kind === 'missing') return python;
  const port = await freePort();
  const script = path.join(import.meta.dirname, file);
  const args = [script, String(port), ...more];
  const { PATH = '', HOME = '' } = process.env;
  const server = await startPeer(python.executable, args, {
    // It would look for newer versions of itself.
    env: { PATH, HOME, FASTMCP_CHECK_FOR_UPDATES: 'off', PYTHONDONTWRITEBYTECODE: '1' },
    url: `http://127.0.0.1:${port}/mcp`,
    ready: /Uvicorn running/,
  });
  const did = () => [...server.output().matchAll(/^did: (.*)$/gm)].map(([, what = '']) => what);
  return { kind: 'ready', server: { ...server, did } };
}
