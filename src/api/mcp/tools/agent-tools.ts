/** `ask_<agent>`: a message to an agent, as a tool. */
import { z } from 'zod';
import { ClientIdSchema } from '../../../contract/ids.ts';
import { cannotAsk } from '../../../elicitation/capabilities.ts';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { Service } from '../../../service/service.ts';
import { readArguments, toJsonSchema } from './arguments.ts';
import { TurnResultSchema } from './call-result.ts';
import type { Caller, Tool } from './tool.ts';

const Arguments = z.object({
  message: z.string().trim().min(1).describe('What to ask or tell the agent'),
  conversationId: ClientIdSchema.optional().describe(
    'Of an earlier result, to go on with that conversation; leave it out to begin a new one',
  ),
});

export function agentTools(service: Pick<Service, 'agents' | 'startTurn'>): Tool[] {
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
      const { idempotencyKey: key } = call;
      const turn = await service.startTurn(caller.principal, {
        conversation: conversationId,
        messages: [{ role: 'user', content: [{ type: 'text', text: message }] }],
        agent: name,
        capabilities: presentable(caller),
        onBusy: 'refuse',
        hops: call.hops,
        traceParent: call.traceParent,
        repetition: key === undefined ? { kind: 'unnamed' } : { kind: 'named', key },
      });
      return { kind: 'turn', turn };
    },
  }));
}

/**
 * What the turn may ask, and what servers below are told: whatever the client does not show itself travels in words,
 * through its model. Behind a service nobody sits.
 */
function presentable({ principal }: Caller): Capabilities {
  return principal.kind === 'user' ? { url: true, form: true } : cannotAsk;
}
