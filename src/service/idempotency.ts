/**
 * Which turn a request means when it is sent more than once: the one it meant the first time. A message is told by
 * its id; a request without one by its `Idempotency-Key`; and one without either, whose client says that it is
 * sending it again, by its content.
 */
import { randomUUID } from 'node:crypto';
import type { IdempotencyKeys } from '../storage/ports/idempotency-keys.ts';
import { digestOf } from '../credentials/sealing/canonical-json.ts';
import { ServiceError } from './service-error.ts';
import { ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';
import type { TakenRequest } from './images/take-images.ts';

/**
 * For how long the same content, announced as a repetition, is the same request: the clients' ten minutes to wait for an
 * answer, and some for trying again. Later it is somebody's second wish whose first attempt never came to us.
 */
const announcedRepeatMs = 15 * 60 * 1000;

interface Identity {
  conversation: string;
  clientMessageId: string;
}

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
  throw new ServiceError(
    'idempotency_key_reused',
    'It was already used for another message. Choose a new one for each message.',
  );
}

/** Longer ones than an index takes are kept as their digest. */
function toKept(key: string): string {
  return key.length > 500 ? digestOf(key) : key;
}

function fingerprintOf({ conversation, agent, messages }: TakenRequest): string {
  return digestOf([conversation ?? null, agent ?? null, messages]);
}
