/** Tools in TypeScript that their authors have exposed: called by the client itself, with no model between. */
import { cannotAsk } from '../../../elicitation/capabilities.ts';
import type { ExposedTool, Service } from '../../../service/service.ts';
import { toDirectCallPart } from '../../../turn/direct-call.ts';
import { toJsonSchema } from './arguments.ts';
import { TurnResultSchema } from './call-result.ts';
import type { Caller, Tool, ToolDescription } from './tool.ts';

export type ExposedToolsService = Pick<Service, 'agents' | 'exposedTools' | 'startTurn'>;

/**
 * What there is now: a worker that starts with other tools changes it. Of two agents that expose one name, it is the tool of
 * the one that is asked for, else of the one that stands first in the agents file.
 */
export async function exposedTools(
  service: ExposedToolsService,
  { agent }: Pick<Caller, 'agent'>,
): Promise<Tool[]> {
  const tools = await service.exposedTools();
  const inFile = [...service.agents.keys()];
  const isFirst = ({ name, agent: own }: ExposedTool) =>
    own === inFile.find((one) => tools.some((tool) => tool.name === name && tool.agent === one));
  return tools
    .filter((tool) => (agent === undefined ? isFirst(tool) : tool.agent === agent))
    .map((tool) => toTool(service, tool));
}

function toTool(service: ExposedToolsService, tool: ExposedTool): Tool {
  return {
    description: describe(tool),
    async start({ principal }, { arguments: input, idempotencyKey: key, hops, traceParent }) {
      const turn = await service.startTurn(principal, {
        conversation: undefined,
        messages: [{ role: 'user', content: [toDirectCallPart({ tool: tool.name, input })] }],
        agent: tool.agent,
        capabilities: principal.kind === 'user' ? { url: true, form: true } : cannotAsk,
        onBusy: 'refuse',
        hops,
        traceParent,
        repetition: key === undefined ? { kind: 'unnamed' } : { kind: 'named', key },
      });
      return { kind: 'turn', turn };
    },
  };
}

/** A result may also be an open question, or that the call is not over: both have the form of a turn. */
function describe({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations = {},
}: ExposedTool): ToolDescription {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    ...(outputSchema && {
      outputSchema: { type: 'object', anyOf: [outputSchema, toJsonSchema(TurnResultSchema)] },
    }),
    annotations,
  };
}
