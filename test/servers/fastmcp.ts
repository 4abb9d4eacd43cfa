/** Servers in Python: of FastMCP, whose third version speaks the old era and whose fourth both, of the SDK, and of LangChain. */
import path from 'node:path';
import { freePort } from '../free-port.ts';
import { startPeer } from './everything-server.ts';
import type { PeerProcess } from './everything-server.ts';
import { pythonWith } from '../programs/python-package.ts';
import type { Python } from '../programs/python-package.ts';

export const fastmcpVersions = { third: '3.4.5', fourth: '4.1.0' } as const;

export interface FastMCP extends PeerProcess {
  /** What it says it did, in its order: `book Lisbon for 3`. */
  did(): string[];
}

export type FastMCPStart = { kind: 'ready'; server: FastMCP } | { kind: 'missing'; why: string };

export async function startFastMCP(
  version: keyof typeof fastmcpVersions,
  { hasEventIds }: { hasEventIds: boolean },
): Promise<FastMCPStart> {
  return startPython(await pythonWithFastMCP(version), 'fastmcp-server.py', [
    hasEventIds ? 'events' : 'plain',
  ]);
}

export const pythonSdkVersions = { first: '1.30.0', second: '2.3.0' } as const;
export const langchainVersions = { adapters: '0.3.2', openai: '1.7.4' } as const;

/** Each comes with a version of FastMCP. */
export function pythonWithSdk(version: keyof typeof pythonSdkVersions): Promise<Python> {
  return pythonWithFastMCP(version === 'first' ? 'third' : 'fourth');
}

export function pythonWithFastMCP(version: keyof typeof fastmcpVersions): Promise<Python> {
  return pythonWith('fastmcp', fastmcpVersions[version]);
}

export function pythonWithLangChain(): Promise<Python> {
  const { adapters, openai } = langchainVersions;
  return pythonWith('langchain-mcp-adapters', adapters, `langchain-openai==${openai}`);
}

export async function startPythonSdk(version: keyof typeof pythonSdkVersions): Promise<FastMCPStart> {
  return startPython(await pythonWithSdk(version), 'python-sdk-server.py', []);
}

/** A tool of LangChain, served by its adapters with the first SDK. */
export async function startLangChain(): Promise<FastMCPStart> {
  return startPython(await pythonWithLangChain(), 'python-sdk-server.py', []);
}

async function startPython(python: Python, file: string, more: string[]): Promise<FastMCPStart> {
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
  return { kind: 'ready', server: withDeeds(server) };
}

export function withDeeds(server: PeerProcess): FastMCP {
  const did = () => [...server.output().matchAll(/^did: (.*)$/gm)].map(([, what = '']) => what);
  return { ...server, did };
}
