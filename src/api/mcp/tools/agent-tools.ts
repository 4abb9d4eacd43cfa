/** The tools that start a turn: `ask_<agent>`, and tools in TypeScript that their authors have exposed. */
import { z } from 'zod';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Service, ExposedTool } from '../../../service/service.ts';
import type { GivenMessage } from '../../../service/take-images.ts';
import { toDirectCallPart } from '../../../turn/message-parts.ts';
import { readArguments, toJsonSchema } from './tool.ts';
import type { Caller, Started, Tool, ToolCall, ToolDescription } from './tool.ts';
import { TurnResultSchema } from './call-result.ts';

const Arguments = z.object({
  message: z.string().trim().min(1).describe('What to ask or tell the agent'),
  conversationId: ClientIdSchema.optional().describe(
    'Of an earlier result, to go on with that conversation; leave it out to begin a new one',
  ),
});

export function agentTools(service: Service): Tool[] {
  return [...service.agents.values()].map(({ name, title, description }) => ({
    description: {
      name: `ask_${name}`,
      title: `Ask ${title}`,
      description: [
        description === undefined
          ? `Talk to the agent ${title}.`
          : `Talk to the agent ${title}: ${description}.`,
        'It may take minutes, and may ask the user questions on its way.',
        'A message to a conversation that only waits for an answer drops its open questions.',
      ].join(' '),
      inputSchema: toJsonSchema(Arguments),
      outputSchema: toJsonSchema(TurnResultSchema),
      annotations: { readOnlyHint: false, openWorldHint: true },
    },
    async start(caller, call) {
      const { message, conversationId } = readArguments(Arguments, call.arguments);
      return startTurn(service, caller, call, {
        conversation: conversationId,
        content: { type: 'text', text: message },
        agent: name,
      });
    },
  }));
}

async function startTurn(
  service: Service,
  { principal }: Caller,
  { idempotencyKey: key, hops, traceParent }: ToolCall,
  turn: {
    conversation: string | undefined;
    content: GivenMessage['content'][number];
    agent: string;
  },
): Promise<Started> {
  const { conversation, content, agent } = turn;
  const started = await service.startTurn(principal, {
    conversation,
    messages: [{ role: 'user', content: [content] }],
    agent,
    // A client that cannot show a question passes it on as text, through its model. A service has no person to ask.
    capabilities: principal.kind === 'user' ? { url: true, form: true } : cannotAsk,
    onBusy: 'refuse',
    hops,
    traceParent,
    repetition: key === undefined ? { kind: 'unnamed' } : { kind: 'named', key },
  });
  return { kind: 'turn', turn: started };
}

/**
 * The tools of the current workers. If two agents expose the same name, the tool is that of the agent that the caller named,
 * else of the first in the agents file.
 */
export async function exposedTools(service: Service, { agent }: Caller): Promise<Tool[]> {
  const tools = await service.exposedTools();
  const inFile = [...service.agents.keys()];
  const isFirst = ({ name, agent: own }: ExposedTool) =>
    own === inFile.find((one) => tools.some((tool) => tool.name === name && tool.agent === one));
  return tools
    .filter((tool) => (agent === undefined ? isFirst(tool) : tool.agent === agent))
    .map((tool) => toTool(service, tool));
}

function toTool(service: Service, tool: ExposedTool): Tool {
  return {
    description: describe(tool),
    start: (caller, call) =>
      startTurn(service, caller, call, {
        conversation: undefined,
        content: toDirectCallPart({ tool: tool.name, input: call.arguments }),
        agent: tool.agent,
      }),
  };
}

/** A result may also be an open question or `working`, which have the form of a turn. */
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
