/** Servers made with the SDKs for Go and Rust and with mcp-go, built once where the machine has the compiler. */
import { randomUUID } from 'node:crypto';
import { openRemoteServers } from '../../src/remote/open-remote-servers.ts';
import { freePort } from '../free-port.ts';
import { goProgram, rmcpProgram } from '../programs/built-program.ts';
import type { BuiltProgram } from '../programs/built-program.ts';
import { startPeer } from './everything-server.ts';
import { withDeeds } from './fastmcp.ts';
import type { FastMCPStart } from './fastmcp.ts';
import { serverConfig } from './mcp-server.ts';

export const goVersions = { sdk: '1.8.0', 'mcp-go': '1.2.1' } as const;

type GoMode = 'sessions' | 'events' | 'stateless';

export async function startGo(library: keyof typeof goVersions, mode: GoMode): Promise<FastMCPStart> {
  return startBuilt(await goProgram(), ['server', library, mode]);
}

export async function startRmcp(mode: 'sessions' | 'stateless'): Promise<FastMCPStart> {
  return startBuilt(await rmcpProgram(), ['server', mode]);
}

async function startBuilt(program: BuiltProgram, args: string[]): Promise<FastMCPStart> {
  if ('missing' in program) return { kind: 'missing', why: program.missing };
  const port = await freePort();
  const server = await startPeer(program.executable, [...args, String(port)], {
    env: {},
    url: `http://127.0.0.1:${port}/mcp`,
    ready: /listening on/,
  });
  return { kind: 'ready', server: withDeeds(server) };
}

/** The program on stdio, called for a user who wants three nights in Lisbon. */
export function useOnStdio(command: string, args: string[]) {
  const config = serverConfig('stdio://built', {
    credentialScope: 'none',
    process: { command, args, cwd: import.meta.dirname, env: {} },
  });
  const remote = openRemoteServers();
  const callTool = (name: string) =>
    remote.callTool(
      config,
      { kind: 'credential', headers: {}, version: 0 },
      {
        name,
        arguments: { city: 'Lisbon' },
        callId: randomUUID(),
        capabilities: { form: true, url: true },
        askUser: {
          ask: ({ key }) => {
            const answer = { key, action: 'accept' as const, content: { nights: 3 } };
            return Promise.resolve({ kind: 'answer', answer, outcome: 'accept' });
          },
          pageDone: () => undefined,
        },
        signal: new AbortController().signal,
      },
    );
  return { callTool, close: () => remote.close() };
}
