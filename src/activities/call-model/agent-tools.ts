/** What an agent may use: its servers' tools, all or those it lists, its tools in TypeScript, and the agents it may hand tasks to. */
import type { Logger } from 'pino';
import type { AgentConfig, Config, ServerConfig } from '../../config/config.ts';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { ModelTool } from '../../remote/model-tools.ts';
import type { TurnOwner } from '../../turn/turn.ts';
import type { OfferedTools } from '../durable-tools/offered-tools.ts';
import { toDelegateTool, toRemoteAgentTool } from './delegate-tool.ts';
import { toQuestionTool } from './question-tool.ts';
import type { AgentTool, FittedTool, ToolFitter } from './fit-tools.ts';

interface Dependencies {
  agents: Config['agents'];
  servers: Config['servers'];
  catalogue: Pick<Catalogue, 'toolsFor' | 'backoff'>;
  offeredTools?: OfferedTools;
  fitter: Pick<ToolFitter, 'fit'>;
  logger: Pick<Logger, 'warn'>;
}

export interface AgentTools {
  tools: FittedTool[];
  /** Titles of servers whose tools are not known because they cannot be reached. */
  away: string[];
}

/** `tool`: its own name at its server; null stands for connecting the account. */
export function mayUse(agent: AgentConfig | undefined, server: string, tool: string | null): boolean {
  const use = agent?.servers.find(({ name }) => name === server);
  return use !== undefined && (tool === null || use.tools === undefined || use.tools.includes(tool));
}

/** As `mayUse`; a remote agent is allowed like any other agent. */
export function mayCall(agent: AgentConfig | undefined, server: ServerConfig, tool: string | null): boolean {
  return server.agent
    ? agent !== undefined && agent.agents.includes(server.name)
    : mayUse(agent, server.name, tool);
}

export function createAgentTools({
  agents,
  servers,
  catalogue,
  offeredTools = () => [],
  fitter,
  logger,
}: Dependencies) {
  const missing = new Set<string>();

  return async (agent: AgentConfig, owner: TurnOwner): Promise<AgentTools> => {
    const own = agent.servers.flatMap(({ name }) => servers.get(name) ?? []);
    const listed = await catalogue.toolsFor(owner, own);
    warnOfMissing(agent, listed);
    const delegates = agent.agents.flatMap((name): AgentTool[] => {
      const [here, remote] = [agents.get(name), servers.get(name)];
      if (here) return [toDelegateTool(here)];
      return remote?.agent ? [toRemoteAgentTool(remote, remote.agent)] : [];
    });
    const away = own.filter(
      (server) =>
        catalogue.backoff.reason(server) !== null && !listed.some((one) => one.server === server.name),
    );
    const tools = [
      ...listed.filter(({ server, tool }) => mayUse(agent, server, tool)),
      ...offeredTools(agent.name),
      ...delegates,
      ...(agent.askUser ? [toQuestionTool(agent.askUser)] : []),
    ];
    return {
      tools: fitter.fit(agent, tools),
      away: away.map(({ title }) => title),
    };
  };

  /** Once for each: what a server lists may depend on the user, and is known only when somebody has listed it. */
  function warnOfMissing({ name: agent, servers: uses }: AgentConfig, listed: ModelTool[]): void {
    for (const { name: server, tools = [] } of uses) {
      const there = listed.flatMap((one) => (one.server === server && one.tool !== null ? one.tool : []));
      if (there.length === 0) continue;
      for (const tool of tools) {
        const key = JSON.stringify([agent, server, tool]);
        if (there.includes(tool) || missing.has(key)) continue;
        missing.add(key);
        logger.warn(
          { agent, server, toolName: tool, there },
          `the agents file lists a tool that its server does not have; correct agents.${agent}.servers`,
        );
      }
    }
  }
}
