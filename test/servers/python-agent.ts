/** A remote agent on Python's SDK. Its web server is that of FastMCP's environment, where one is installed anyway. */
import path from 'node:path';
import { freePort } from '../free-port.ts';
import { pythonWith } from '../programs/python-package.ts';
import { startPeer } from './everything-server.ts';
import type { PeerProcess } from './everything-server.ts';
import { fastmcpVersions } from './fastmcp.ts';

export interface PythonAgent extends PeerProcess {
  card: string;
  /** What it says it did, in its order. */
  did(): string[];
}

export type PythonAgentStart = { kind: 'ready'; agent: PythonAgent } | { kind: 'missing'; why: string };

export async function startPythonAgent(version: '1.0' | '0.3'): Promise<PythonAgentStart> {
  const sdk = await pythonWith('a2a-sdk', '1.3.0');
  if (sdk.kind === 'missing') return sdk;
  const web = await pythonWith('fastmcp', fastmcpVersions.third);
  if (web.kind === 'missing') return web;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = path.join(import.meta.dirname, 'python-agent.py');
  const { PATH = '', HOME = '' } = process.env;
  const packages = path.join(sdk.executable, '../../lib');
  const agent = await startPeer(web.executable, [script, String(port), version, packages], {
    env: { PATH, HOME, PYTHONDONTWRITEBYTECODE: '1' },
    url,
    ready: /Uvicorn running/,
  });
  const did = () => [...agent.output().matchAll(/^did: (.*)$/gm)].map(([, what = '']) => what);
  return { kind: 'ready', agent: { ...agent, card: `${url}/.well-known/agent-card.json`, did } };
}
