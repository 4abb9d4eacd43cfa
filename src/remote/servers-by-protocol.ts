/** All that turns call, whichever protocol it speaks. */
import type { ServerConfig } from '../config/config.ts';
import { createA2aAgents } from './a2a/a2a-agents.ts';
import { createMcpServers } from './mcp/mcp-servers.ts';
import type { LearnedEras } from '../storage/ports/learned-eras.ts';
import type { RemoteServers } from './remote-servers.ts';

type Protocol = 'mcp' | 'a2a';

function protocolOf({ agent }: ServerConfig): Protocol {
  return agent ? 'a2a' : 'mcp';
}

export function createServersByProtocol(learnedEras: LearnedEras): RemoteServers {
  const byProtocol: Record<Protocol, RemoteServers> = {
    mcp: createMcpServers({ learnedEras }),
    a2a: createA2aAgents(),
  };
  const of = (server: ServerConfig) => byProtocol[protocolOf(server)];
  return {
    listTools: (server, ...rest) => of(server).listTools(server, ...rest),
    callTool: (server, ...rest) => of(server).callTool(server, ...rest),
    cancelCall: (access, open) => of(access.server).cancelCall(access, open),
    observeCall: (access, ...rest) => of(access.server).observeCall(access, ...rest),
    close: async () => void (await Promise.all(Object.values(byProtocol).map((servers) => servers.close()))),
  };
}
