/**
 * The tools as the agent's model is offered them: with schemas that its provider accepts. A tool that cannot be offered is
 * left out, so that the others can be; the operator reads why, once.
 */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { AgentConfig, ProvidersConfig } from '../../config/config.ts';
import type { ArgumentNames } from '../../models/tool-schema/argument-names.ts';
import { fitSchema } from '../../models/tool-schema/fit-schema.ts';
import { mostToolsOf, providersOf } from '../../models/tool-schema/provider-rules.ts';
import type { Provider } from '../../models/tool-schema/provider-rules.ts';
import type { ModelTool } from '../../remote/model-tools.ts';
import type { DurableTool } from '../durable-tools/offered-tools.ts';
import type { DelegateTool } from './delegate-tool.ts';
import type { QuestionTool } from './question-tool.ts';

export type AgentTool = ModelTool | DelegateTool | QuestionTool | DurableTool;

export type FittedTool = AgentTool & {
  /** From names of arguments that the model uses to those of the tool; absent where they are the same. */
  argumentNames?: ArgumentNames;
};

export interface ToolFitter {
  fit(agent: AgentConfig, tools: AgentTool[]): FittedTool[];
  /** The provider has rejected a request because of this tool: it is not offered again while its schema stays. */
  reject(agent: AgentConfig, tool: FittedTool): void;
}

interface Parts {
  providers: ProvidersConfig;
  logger: Pick<Logger, 'warn'>;
}

function providersOfAgent({ model }: Pick<AgentConfig, 'model'>, providers: ProvidersConfig): Provider[] {
  return providersOf(model, providers['openai-compatible']?.baseURL);
}

export function createToolFitter({ providers, logger }: Parts): ToolFitter {
  const rejected = new Set<string>();
  const reported = new Set<string>();

  function leaveOut(agent: AgentConfig, tool: AgentTool, reason: string): FittedTool[] {
    const key = JSON.stringify([agent.name, tool.modelName, reason]);
    if (reported.has(key)) return [];
    reported.add(key);
    const about = { agent: agent.name, model: agent.model, ...placeOf(tool) };
    logger.warn({ ...about, reason }, `${toolInWords(tool)} is left out for ${agent.model}: it ${reason}`);
    return [];
  }

  return {
    fit(agent, tools) {
      const of = providersOfAgent(agent, providers);
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
      // The agent's own tools and delegates are few, and stay.
      const surplus = new Set<FittedTool>(
        usable.filter((tool) => 'server' in tool).slice(most - usable.length),
      );
      for (const tool of surplus) leaveOut(agent, tool, `is beyond the ${most} tools that the model takes`);
      return usable.filter((tool) => !surplus.has(tool));
    },
    reject: (agent, tool) => void rejected.add(keyOf(agent, tool)),
  };
}

/** As logs name it. */
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
