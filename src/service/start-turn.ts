/** From a request to a turn, the same from every surface: which agent, whose conversation, and whether it is a repetition. */
import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { NewTurn } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredMessage } from '../storage/ports/conversations.ts';
import { beginTurn } from '../telemetry/traces/turn-spans.ts';
import { handedOnTooOften } from '../turn/hops.ts';
import { conversationNotFound, ownConversationIfAny } from './conversation-access.ts';
import { invalidInput, ServiceError } from './service-error.ts';
import { identify } from './idempotency.ts';
import { takeImages } from './images/take-images.ts';
import type { TakenRequest } from './images/take-images.ts';
import { toOwnTurn } from './own-turn.ts';
import type { OwnTurn } from './own-turn.ts';
import { ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';
import type { StartWorkflow } from './start-workflow.ts';
import type { TurnRequest } from './turn-request.ts';

interface Parts {
  storage: Storage;
  config: Pick<Config, 'agents' | 'delegation' | 'images'>;
  startWorkflow: StartWorkflow;
}

export async function startTurn(
  { storage, config, startWorkflow }: Parts,
  principal: Principal,
  request: TurnRequest,
): Promise<OwnTurn> {
  const { hops = 0 } = request;
  const { maxDepth } = config.delegation;
  if (hops > maxDepth)
    throw new ServiceError('too_many_hops', `The agent was not asked: ${handedOnTooOften(maxDepth)}`);
  const known =
    request.conversation === undefined
      ? null
      : await ownConversationIfAny(storage, principal, request.conversation);
  const agent = agentFor(request.agent, known?.agent, config.agents);
  const isTaken = config.agents.get(agent)?.images === true;
  const { messages, images } = takeImages(request, { limits: config.images, isTaken });
  const taken = { ...request, messages };
  // Last: a request that is refused for what it says must not use up its key.
  const { conversation, clientMessageId } = await identify(storage.idempotencyKeys, taken, principal);

  const turnId = randomUUID();
  const turn: NewTurn = {
    ...ownerOf(principal),
    conversation,
    turnId,
    agent,
    capabilities: request.capabilities,
    clientMessageId,
    messages: newMessages(taken, turnId, clientMessageId),
    ...(images.length > 0 && { images }),
    ...(hops > 0 && { hops }),
  };
  const span = await beginTurn({ storage }, turn, {
    caller: request.traceParent,
    isFirst: known === null,
  });
  const isNamed = request.conversation !== undefined && request.messages.at(-1)?.id !== undefined;
  const isRepeatable = isNamed || request.repetition.kind === 'named';
  const traced = { ...turn, ...(span.traceParent !== undefined && { traceParent: span.traceParent }) };
  const start = await startWorkflow(traced, { onBusy: request.onBusy, isRepeatable }).catch(
    (error: unknown) => {
      span.fail(error instanceof ServiceError ? error.code : '_OTHER');
      throw error;
    },
  );
  // Otherwise the turn has a root already, or has not begun.
  if (start.kind === 'started' && start.turn.turnId === turnId) span.end();
  switch (start.kind) {
    case 'started':
    case 'joined':
      return toOwnTurn(start.turn);
    case 'busy':
      throw busy(start);
    case 'no-version':
      throw new ServiceError(
        'unavailable',
        'No worker of this deployment has started yet, so no turn can start. Send the message again in a few seconds. The operator reads at /readyz what is missing.',
        { retryAfterMs: 5_000 },
      );
    case 'foreign-conversation':
      throw conversationNotFound();
    case 'other-message':
      throw new ServiceError(
        'message_id_reused',
        'Another message was already sent under this id in this conversation, with other words. Choose a new id for each message, also for one that is sent again with changes.',
      );
    default:
      return start satisfies never;
  }
}

function newMessages(
  { conversation, messages }: TakenRequest,
  turnId: string,
  lastId: string,
): Omit<StoredMessage, 'turnId'>[] {
  const history = conversation === undefined ? messages.slice(0, -1) : [];
  return [
    ...history.map(({ role, content }, index) => ({ id: `${turnId}/history/${index}`, role, content })),
    ...messages.slice(-1).map(({ role, content }) => ({ id: lastId, role, content })),
  ];
}

function busy({ turnId, isEnding }: { turnId: string; isEnding: boolean }): ServiceError {
  const detail = isEnding
    ? 'The turn is about to end but has not ended yet. Send the message again in a moment.'
    : 'Wait for the turn to end, or cancel it, then send the message again.';
  return new ServiceError('turn_in_progress', detail, {
    turnId,
    ...(isEnding && { retryAfterMs: 1_000 }),
  });
}

/** A conversation stays with the agent it began with; a new one is with the first agent unless it says otherwise. */
function agentFor(name: string | undefined, known: string | undefined, agents: Config['agents']): string {
  const [first] = agents.keys();
  const agent = name ?? known ?? first;
  if (agent === undefined || !agents.has(agent)) throw unknownAgent(agent ?? '', agents);
  if (known !== undefined && known !== agent) {
    throw invalidInput(['agent'], `this conversation is with ${known}; start another for ${agent}`);
  }
  return agent;
}

export function unknownAgent(name: string, agents: Config['agents']): ServiceError {
  const names = [...agents.keys()].join(', ');
  return new ServiceError('unknown_agent', `There is no agent "${name}". There are: ${names}.`);
}
