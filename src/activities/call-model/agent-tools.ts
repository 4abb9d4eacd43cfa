/**
 * The tools that an agent's model is offered: those of its servers, its tools in TypeScript, other agents, `ask_user`, and
 * those of the front end.
 * Their schemas are changed so that the model's provider accepts them. A tool that cannot be offered is left out, and the
 * operator reads why in the log, once.
 */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type {
  AgentConfig,
  Config,
  ProvidersConfig,
  RemoteAgent,
  ServerConfig,
} from '../../platform/config/config.ts';
import type { ArgumentNames } from '../../models/tool-schema/argument-names.ts';
import { fitSchema } from '../../models/tool-schema/fit-schema.ts';
import { mostToolsOf, providersOf } from '../../models/tool-schema/provider-rules.ts';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { ModelTool } from '../../remote/model-tools.ts';
import type { StoredMessage } from '../../storage/schema/turn-tables.ts';
import { delegatePrefix } from '../../turn/call-result.ts';
import type { TurnOwner } from '../../turn/turn.ts';
import { offeredFrontendTools } from '../frontend-tools.ts';
import type { OfferedFrontendTool } from '../frontend-tools.ts';
import { toQuestionTool } from '../model-question.ts';
import type { QuestionTool } from '../model-question.ts';

interface Dependencies {
  agents: Config['agents'];
  servers: Config['servers'];
  catalogue: Pick<Catalogue, 'toolsFor' | 'backoff'>;
  offeredTools?: OfferedTools;
  fitter: ToolFitter;
  logger: Pick<Logger, 'warn'>;
}

interface AgentTools {
  tools: FittedTool[];
  /** Titles of servers that cannot be reached, so that their tools are unknown. */
  away: string[];
}

/** `tool`: its own name at its server; null for the tool `connect_<server>`. */
export function mayUse(agent: AgentConfig | undefined, server: string, tool: string | null): boolean {
  const use = agent?.servers.find(({ name }) => name === server);
  return use !== undefined && (tool === null || use.tools === undefined || use.tools.includes(tool));
}

/** Like `mayUse`, and for remote agents too. */
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

  return async (
    agent: AgentConfig,
    owner: TurnOwner,
    transcript: Promise<StoredMessage[]>,
  ): Promise<AgentTools> => {
    const used = agent.servers.flatMap(({ name }) => servers.get(name) ?? []);
    const listed = await catalogue.toolsFor(owner, used);
    warnOfMissing(agent, listed);
    const delegates = agent.agents.flatMap((name): AgentTool[] => {
      const [here, remote] = [agents.get(name), servers.get(name)];
      if (here) return [toDelegateTool(here)];
      return remote?.agent ? [toRemoteAgentTool(remote, remote.agent)] : [];
    });
    const away = used.filter(
      (server) =>
        catalogue.backoff.reason(server) !== null && !listed.some((one) => one.server === server.name),
    );
    const own: AgentTool[] = [
      ...listed.filter(({ server, tool }) => mayUse(agent, server, tool)),
      ...offeredTools(agent.name),
      ...delegates,
      ...(agent.askUser ? [toQuestionTool(agent.askUser)] : []),
    ];
    // The agent's own tools count.
    const taken = new Set(own.map(({ modelName }) => modelName));
    const more = offeredFrontendTools(agent, await transcript).filter(
      ({ modelName }) => !taken.has(modelName),
    );
    return {
      tools: fitter.fit(agent, [...own, ...more]),
      away: away.map(({ title }) => title),
    };
  };

  /** Logged once per tool. It cannot be checked at start, because what a server lists may depend on the user. */
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

/** Another agent as the model sees it: a tool named `agent__<name>` that takes a task. */
interface DelegateTool {
  modelName: string;
  agent: string;
  title: string;
  /** Model steps that the agent may take for its task. */
  maxSteps: number;
  description: string;
  inputSchema: Record<string, unknown>;
}

function toDelegateTool({ name, title, description, maxSteps }: AgentConfig): DelegateTool {
  return { modelName: delegatePrefix + name, agent: name, title, maxSteps, ...taskTool(title, description) };
}

/** A remote agent is called like a server with one tool. */
function toRemoteAgentTool({ name, title }: ServerConfig, { description }: RemoteAgent): ModelTool {
  return {
    modelName: delegatePrefix + name,
    server: name,
    tool: 'task',
    delegate: title,
    ...taskTool(title, description),
    readOnly: false,
    idempotent: false,
  };
}

/** The remote agent with this tool. */
export function remoteAgentOf(
  servers: ReadonlyMap<string, ServerConfig>,
  toolName: string,
): ServerConfig | undefined {
  return [...servers.values()].find(({ name, agent }) => agent && delegatePrefix + name === toolName);
}

function taskTool(title: string, description: string): Pick<ModelTool, 'description' | 'inputSchema'> {
  const who = description === '' ? title : `${title} (${description})`;
  return {
    description:
      `Hands a task to another agent, ${who}, and returns its answer. It works on its own and may ask the user ` +
      'itself. It sees nothing of this conversation, so put into the task whatever it has to know.',
    inputSchema: {
      type: 'object',
      properties: { task: { type: 'string', description: 'What to do or find out, complete in itself.' } },
      required: ['task'],
      additionalProperties: false,
    },
  };
}

export function isDelegateTool(toolName: string): boolean {
  return toolName.startsWith(delegatePrefix);
}

/** Null if the model did not follow the schema. */
export function taskIn(input: unknown): string | null {
  const { task } = (input ?? {}) as { task?: unknown };
  return typeof task === 'string' && task.trim() !== '' ? task : null;
}

export type AgentTool = ModelTool | DelegateTool | QuestionTool | DurableTool | OfferedFrontendTool;

export type FittedTool = AgentTool & {
  /** Maps argument names that the model uses to the tool's own; absent if they are the same. */
  argumentNames?: ArgumentNames;
};

export interface ToolFitter {
  fit(agent: AgentConfig, tools: AgentTool[]): FittedTool[];
  /** The provider rejected a request because of this tool: it is not offered again until its schema changes. */
  reject(agent: AgentConfig, tool: FittedTool): void;
}

interface Parts {
  providers: ProvidersConfig;
  logger: Pick<Logger, 'warn'>;
}

/** Clients choose the tools of front ends, so any number could be reported and rejected. */
const mostOfFrontends = 1_000;
const mostRejected = 10_000;

export function createToolFitter({ providers, logger }: Parts): ToolFitter {
  const rejected = new Set<string>();
  const reported = new Set<string>();
  let reportedOfFrontends = 0;

  function leaveOut(agent: AgentConfig, tool: AgentTool, reason: string): FittedTool[] {
    const key = JSON.stringify([agent.name, tool.modelName, reason]);
    if (reported.has(key)) return [];
    if ('isFrontend' in tool && reportedOfFrontends++ >= mostOfFrontends) return [];
    reported.add(key);
    const about = { agent: agent.name, model: agent.model, ...placeOf(tool) };
    logger.warn({ ...about, reason }, `${toolInWords(tool)} is left out for ${agent.model}: it ${reason}`);
    return [];
  }

  return {
    fit(agent, tools) {
      const of = providersOf(agent.model, providers['openai-compatible']?.baseURL);
      const usable = tools.flatMap((tool): FittedTool[] => {
        const found = fitSchema(tool.inputSchema, of);
        if (found.kind === 'unfit') return leaveOut(agent, tool, found.reason);
        const { schema: inputSchema, names } = found;
        const offered = {
          ...tool,
          inputSchema,
          ...(Object.keys(names).length > 0 && { argumentNames: names }),
        };
        return rejected.size > 0 && rejected.has(keyOf(agent, offered)) ? [] : [offered];
      });
      const most = mostToolsOf(agent.model);
      if (usable.length <= most) return usable;
      // The agent's own tools and delegates are few and stay. Those of the front end are last, and go first.
      const surplus = new Set<FittedTool>(
        usable.filter((tool) => 'server' in tool || 'isFrontend' in tool).slice(most - usable.length),
      );
      for (const tool of surplus) leaveOut(agent, tool, `is beyond the ${most} tools that the model takes`);
      return usable.filter((tool) => !surplus.has(tool));
    },
    reject(agent, tool) {
      rejected.add(keyOf(agent, tool));
      const [oldest = ''] = rejected;
      if (rejected.size > mostRejected) rejected.delete(oldest);
    },
  };
}

/** For logs. */
export function placeOf(tool: AgentTool): { toolName: string; server?: string } {
  if ('server' in tool) return { toolName: tool.tool ?? tool.modelName, server: tool.server };
  return { toolName: tool.modelName };
}

export function toolInWords(tool: AgentTool): string {
  const { toolName: name, server } = placeOf(tool);
  return server === undefined ? `the tool "${name}"` : `the tool "${name}" of server "${server}"`;
}

function keyOf({ model }: AgentConfig, { modelName, inputSchema }: AgentTool): string {
  return JSON.stringify([model, modelName, hash('sha256', JSON.stringify(inputSchema))]);
}

/** A tool in TypeScript. */
interface DurableTool {
  modelName: string;
  /** The hash of the code that runs a call. */
  bundle: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** A person must approve each call, unless they chose to be asked no more. */
  approval?: true;
  /** As in `DurableCall`. */
  executeMs?: number;
}

/** The tools in TypeScript of an agent, by its name. */
export type OfferedTools = (agent: string) => DurableTool[];
