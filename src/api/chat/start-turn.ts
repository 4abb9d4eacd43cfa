/** From a chat request to a turn: which agent, which message, and whose conversation. */
import { randomUUID } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { NewTurn, Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { conversationNotFound, requireOwn, userOf } from '../conversation-access.ts';
import { invalidRequest, ProblemError } from '../errors.ts';
import type { Principal } from '../principal.ts';
import type { TurnWorkflows } from '../turns.ts';
import { newMessage } from './request.ts';
import type { ChatRequest } from './request.ts';

export interface StartTurnParts {
  storage: Storage;
  config: Pick<Config, 'agents'>;
  workflows: Pick<TurnWorkflows, 'start'>;
}

interface Chat {
  request: ChatRequest;
  principal: Principal;
  capabilities: Capabilities;
}

export async function startTurn(
  { storage, config, workflows }: StartTurnParts,
  chat: Chat,
): Promise<TurnRef> {
  const { request, principal, capabilities } = chat;
  const { id, content } = newMessage(request);
  const ref = { tenant: principal.tenant, conversation: request.id };
  const known = await storage.turns.conversation(ref);
  if (known) requireOwn(known, principal);

  const turnId = randomUUID();
  // Asking again is a message of its own: under its old id it would join the turn that it wants to repeat.
  const messageId = id === undefined || request.trigger === 'regenerate-message' ? turnId : id;
  const turn: NewTurn = {
    ...ref,
    turnId,
    agent: agentFor(request.agentId, known?.agent, config.agents),
    user: userOf(principal),
    capabilities,
    clientMessageId: messageId,
    messages: [{ id: messageId, role: 'user', content }],
  };
  const start = await workflows.start(turn);
  switch (start.kind) {
    case 'started':
    case 'joined':
      return start.turn;
    case 'busy':
      throw new ProblemError(
        'turn_in_progress',
        'Wait for the turn to end, or cancel it, then send the message again.',
        {
          members: { turnId: start.turnId },
          headers: { 'x-turn-id': start.turnId },
        },
      );
    case 'foreign-conversation':
      throw conversationNotFound();
    default:
      return start satisfies never;
  }
}

/** A conversation stays with the agent it began with; a new one is with the first agent unless it says otherwise. */
function agentFor(asked: string | undefined, known: string | undefined, agents: Config['agents']): string {
  const [first] = agents.keys();
  const agent = asked ?? known ?? first;
  if (agent === undefined || !agents.has(agent)) {
    throw new ProblemError(
      'unknown_agent',
      `There is no agent "${agent ?? ''}". There are: ${[...agents.keys()].join(', ')}.`,
    );
  }
  if (known !== undefined && known !== agent) {
    throw invalidRequest([
      { pointer: '/agentId', detail: `this conversation is with ${known}; start another for ${agent}` },
    ]);
  }
  return agent;
}
