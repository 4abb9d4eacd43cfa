/** From a request to a turn, the same for every surface: which agent, which conversation, and whether it is a repetition. */
import { randomUUID } from 'node:crypto';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Replacing, NewTurn } from '../storage/tables/turn-lifecycle.ts';
import type { Config } from '../platform/config/config.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredMessage } from '../storage/schema/turn-tables.ts';
import { tooManyTurns } from './limits.ts';
import type { Limits } from './limits.ts';
import type { Overload } from './overload.ts';
import { beginTurn } from '../platform/telemetry/traces/turn-spans.ts';
import { handedOnTooOften } from '../turn/turn.ts';
import { conversationNotFound, ownConversationIfAny, toOwnTurn } from './own-turn.ts';
import { invalidInput, ServiceError } from './service-error.ts';
import { takeImages } from './take-images.ts';
import type { GivenMessage, TakenMessage } from './take-images.ts';
import type { OwnTurn } from './own-turn.ts';
import { ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';
import type { StartWorkflow } from './start-workflow.ts';
import type { IdempotencyKeys } from '../storage/tables/idempotency-keys.ts';
import { digestOf } from '../credentials/sealing/sealed-values.ts';

export interface TurnRequest {
  /** Undefined: a new conversation. */
  conversation: string | undefined;
  /** Oldest first; the last one is new, those before it are the history of a new conversation. */
  messages: GivenMessage[];
  /** Its name; undefined: the conversation's, or the first one of the agents file. */
  agent: string | undefined;
  capabilities: Capabilities;
  onBusy: Replacing['onBusy'];
  repetition: Repetition;
  /** How often the task was handed on before, according to the caller. */
  hops?: number;
  /** W3C's `traceparent` from the body of the request, not validated. */
  traceParent?: unknown;
}

export type Repetition =
  /** The message's own id identifies it. */
  | { kind: 'unnamed' }
  /** The caller's `Idempotency-Key`. */
  | { kind: 'named'; key: string }
  /** The client repeats requests without a key, and says when it does. */
  | { kind: 'announced'; isRepeat: boolean };

type TakenRequest = Omit<TurnRequest, 'messages'> & { messages: TakenMessage[] };

interface Parts {
  storage: Storage;
  config: Pick<Config, 'agents' | 'delegation' | 'images'>;
  startWorkflow: StartWorkflow;
  limits: Limits;
  overload: Overload;
}

/** The turn that was started, or that the same request started before. */
export async function startTurn(
  { storage, config, startWorkflow, limits, overload }: Parts,
  principal: Principal,
  request: TurnRequest,
): Promise<OwnTurn> {
  const refusal = overload.refusal(principal.tenant);
  if (refusal) throw refusal;
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
  // Last, because a request that is refused must not use up its key.
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
  const start = await startWorkflow(traced, {
    onBusy: request.onBusy,
    isRepeatable,
    limits: limits.ofStart(principal),
  }).catch((error: unknown) => {
    span.fail(error instanceof ServiceError ? error.code : '_OTHER');
    throw error;
  });
  // Otherwise the turn's trace has a root already, or the turn has not begun.
  if (start.kind === 'started' && start.turn.turnId === turnId) span.end();
  switch (start.kind) {
    case 'started':
    case 'joined':
      return toOwnTurn(start.turn);
    case 'busy':
      throw busy(start);
    case 'too-many-turns':
      throw tooManyTurns(start.of);
    case 'tokens-spent':
      throw limits.tokensSpent(principal, start.of);
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

/** A conversation keeps its agent. A new one gets the first agent unless the request names one. */
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
  return new ServiceError('unknown_agent', `There is no agent "${name}". The agents are: ${names}.`);
}

/**
 * How long the same content, announced as a repetition, is the same request: clients wait ten minutes for an answer, and then try
 * again. Later it is a new request whose first attempt never arrived.
 */
const announcedRepeatMs = 15 * 60 * 1000;

interface Identity {
  conversation: string;
  clientMessageId: string;
}

/**
 * A request that is sent again means the same turn as the first time. A message is recognised by its id; a request without one by
 * its `Idempotency-Key`; one without either, whose client says that it repeats a request, by its content.
 */
export async function identify(
  keys: IdempotencyKeys,
  request: TakenRequest,
  principal: Principal,
): Promise<Identity> {
  const { repetition } = request;
  const identity: Identity = {
    conversation: request.conversation ?? randomUUID(),
    clientMessageId: request.messages.at(-1)?.id ?? randomUUID(),
  };
  if (repetition.kind === 'unnamed') return identity;

  const fingerprint = fingerprintOf(request);
  const key = repetition.kind === 'named' ? `key ${toKept(repetition.key)}` : `content ${fingerprint}`;
  const earlier =
    repetition.kind === 'named' ? {} : { isNew: !repetition.isRepeat, withinMs: announcedRepeatMs };
  const use = await keys.claim({ ...ownerOf(principal), key, fingerprint, ...identity }, earlier);
  if (use.fingerprint === fingerprint) return use;
  throw keyReused('message');
}

function keyReused(what: string): ServiceError {
  return new ServiceError(
    'idempotency_key_reused',
    `It was already used for another ${what}. Choose a new one for each ${what}.`,
  );
}

/** A request that starts no turn, and is known by its key. `content` must not contain answers, because its digest is stored. */
interface NamedRequest {
  conversation: string;
  key: string;
  content: unknown;
}

/** Refuses a key that was used for another request, also for one that started a turn. */
export async function claimKey(
  storage: Storage,
  principal: Principal,
  { conversation, key, content }: NamedRequest,
): Promise<void> {
  const fingerprint = digestOf([conversation, content]);
  const use = { key: `key ${toKept(key)}`, fingerprint, conversation, clientMessageId: '' };
  const first = await storage.idempotencyKeys.claim({ ...ownerOf(principal), ...use });
  if (first.fingerprint !== fingerprint) throw keyReused('request');
}

/** A key that is too long for an index is kept as its digest. */
function toKept(key: string): string {
  return key.length > 500 ? digestOf(key) : key;
}

function fingerprintOf({ conversation, agent, messages }: TakenRequest): string {
  return digestOf([conversation ?? null, agent ?? null, messages]);
}
