/** Deletes a conversation at its owner's wish, and everything of a user at an operator's. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AuditEntry } from '../storage/schema/question-tables.ts';
import type { Erasure } from '../storage/schema/session-tables.ts';
import type { RemovedConversation } from '../storage/tables/erasure.ts';
import type { Storage } from '../storage/storage.ts';
import type { ConversationRef, TurnOwner } from '../turn/turn.ts';
import { pushWorkflowId, slackDeliveryWorkflowId } from '../workflows/messages.ts';
import type { createOwnConnections } from './connections.ts';
import { stopTurn } from './end-turn.ts';
import { liveTurn, conversationNotFound, ownConversation, requirePerson } from './own-turn.ts';
import { actorOf, ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';
import { ServiceError } from './service-error.ts';

const pauseMs = 200;
/** How long servers that keep calls of ended turns open may take to be notified. They may be away for days. */
const notifiedWithinMs = 30_000;
/** As `notifiedWithinMs`, while a caller waits for the response. */
const notifiedSoonMs = 5_000;

function deliveriesOf(of: { turnId: string; deliveryIds: string[]; isInSlack: boolean }): string[] {
  const pushes = of.deliveryIds.map(pushWorkflowId);
  return of.isInSlack ? [...pushes, slackDeliveryWorkflowId(of.turnId)] : pushes;
}

/** Refused while it has a turn that has not ended: its outcome could not be written any more. */
export async function eraseConversation(
  { storage, logger }: Pick<Parts, 'storage' | 'logger'>,
  principal: Principal,
  { conversation, address }: { conversation: string; address: string | null },
): Promise<void> {
  const own = await ownConversation(storage, principal, conversation);
  await requirePerson(storage, principal, { detail: 'deleting a conversation for a user', address });
  if ((await liveTurn(storage, own)) === null)
    await serversNotified({ storage, logger }, [own], notifiedSoonMs);
  const by = principal.kind === 'service' ? ` (key ${principal.keyId})` : '';
  const entry = {
    at: storage.now(),
    tenant: principal.tenant,
    elicitationId: '',
    actor: actorOf(principal),
    action: 'erased' as const,
    detail: `conversation, by its owner${by}`,
    address,
  };
  const removed = await remove(storage, own, ownerOf(principal), entry, storage.now());
  switch (removed.kind) {
    case 'removed':
      return;
    case 'missing':
      throw conversationNotFound();
    case 'busy':
      throw new ServiceError(
        'turn_in_progress',
        'A turn of this conversation has not ended. Cancel it, or wait for its end, and delete the conversation then.',
        { turnId: removed.turnId, retryAfterMs: 1_000 },
      );
    default:
      removed satisfies never;
  }
}

function remove(
  storage: Storage,
  ref: ConversationRef,
  owner: TurnOwner | null,
  audit: AuditEntry,
  erasedAt: number | null,
): Promise<RemovedConversation> {
  return storage.erasure.removeConversation(ref, { owner, deliveriesOf, audit, erasedAt });
}

interface Parts {
  storage: Storage;
  connections: Pick<ReturnType<typeof createOwnConnections>, 'end'>;
  logger: Logger;
}

interface Erasing {
  /** The operator. */
  actor: string;
  /** How long turns may take to end. */
  waitMs: number;
  /** Of the erasure that is repeated; absent: it is a new one. */
  erasedAt?: number;
}

interface ErasedUser {
  conversations: number;
  connections: number;
  /** Servers whose provider could not be notified. */
  notRevoked: string[];
}

/**
 * Ends the user's turns first, and waits a while for the notification of servers, which needs the accounts. Throws if turns have not
 * ended within `waitMs`. Can be repeated.
 */
export async function eraseUser(
  { storage, connections, logger }: Parts,
  { tenant, user }: { tenant: string; user: string },
  { actor, waitMs, erasedAt }: Erasing,
): Promise<ErasedUser> {
  // First, so that an erasure that fails half-way is on the list; one that is repeated is on another list.
  if (erasedAt === undefined) await storage.erasure.note({ tenant, user, at: storage.now() });
  const refs = await storage.exports.conversationsOf({ tenant, user });
  await endTurns({ storage, logger }, refs, waitMs);
  const address = null;
  const notRevoked: string[] = [];
  const accounts = await storage.connections.list({ tenant, user });
  for (const { server } of accounts) {
    const ended = await connections.end({ tenant, server, user }, { actor, address, by: '' });
    if (ended?.revokedAtProvider === false) notRevoked.push(server);
  }
  const entry = { at: storage.now(), tenant, elicitationId: '', actor, action: 'erased' as const, address };
  let erased = 0;
  for (const ref of refs) {
    const removed = await remove(
      storage,
      ref,
      { tenant, user },
      { ...entry, detail: 'conversation, with its user' },
      null,
    );
    if (removed.kind === 'busy') throw notEnded(1);
    erased += 1;
  }
  // Only sealed entries of the audit can be deleted without a gap in its chain.
  while ((await storage.auditChain.seal()) > 0);
  await storage.erasure.removeUser({ tenant, user }, (owner) => isOf(owner, tenant, user));
  if (erasedAt !== undefined) await storage.erasure.note({ tenant, user, at: erasedAt });
  await storage.audit.record({ ...entry, detail: 'user, by an operator' });
  return { conversations: erased, connections: accounts.length, notRevoked };
}

/**
 * Repeats the erasures of a list that a restored backup does not know. Those that it knows were done before it was made, and what it
 * has of these users is newer. It forgets erasures after `keptMs`, so older ones prove nothing and are left out.
 */
export async function eraseAgain(
  parts: Parts,
  list: Erasure[],
  { actor, waitMs, keptMs = Infinity }: Erasing & { keptMs?: number | undefined },
): Promise<Erasure[]> {
  const { storage } = parts;
  const known = new Set((await storage.erasure.list()).map(inOneText));
  const oldest = storage.now() - keptMs;
  const missing = list.filter((erasure) => erasure.at >= oldest && !known.has(inOneText(erasure)));
  for (const erasure of missing) {
    const { tenant, at } = erasure;
    if ('user' in erasure) {
      await eraseUser(parts, erasure, { actor, waitMs, erasedAt: at });
      continue;
    }
    await endTurns(parts, [erasure], waitMs);
    const audit = {
      at: storage.now(),
      tenant,
      elicitationId: '',
      actor,
      action: 'erased' as const,
      detail: 'conversation, again after a restore',
      address: null,
    };
    const removed = await remove(storage, erasure, null, audit, at);
    if (removed.kind === 'busy') throw notEnded(1);
    if (removed.kind === 'missing') await storage.erasure.note(erasure);
  }
  return missing;
}

function inOneText(erasure: Erasure): string {
  const { tenant, at } = erasure;
  return JSON.stringify([tenant, at, 'user' in erasure ? [erasure.user] : erasure.conversation]);
}

async function endTurns(
  { storage, logger }: Pick<Parts, 'storage' | 'logger'>,
  refs: ConversationRef[],
  waitMs: number,
): Promise<void> {
  const isLive = async (ref: ConversationRef) => {
    const turn = await liveTurn(storage, ref);
    const row = turn && (await storage.turns.get(turn));
    if (!row || row.endedAt !== null) return false;
    if (row.endingAt === null) await stopTurn({ storage, logger }, row);
    return true;
  };
  const live = await leftAfter(refs, isLive, waitMs);
  if (live.length > 0) throw notEnded(live.length);
  await serversNotified({ storage, logger }, refs, notifiedWithinMs);
}

/** Until servers were notified of the ended turns whose calls they keep open; `mostMs` at most. */
async function serversNotified(
  { storage, logger }: Pick<Parts, 'storage' | 'logger'>,
  refs: ConversationRef[],
  mostMs: number,
): Promise<void> {
  const awaited = await leftAfter(refs, (ref) => storage.erasure.hasUnnotifiedServers(ref), mostMs);
  if (awaited.length > 0)
    logger.warn(
      { conversations: awaited.length },
      'servers that keep calls of erased turns open could not be notified',
    );
}

/** Looks again and again until none is left, or `mostMs` have passed. */
async function leftAfter(
  refs: ConversationRef[],
  isLeft: (ref: ConversationRef) => Promise<boolean>,
  mostMs: number,
): Promise<ConversationRef[]> {
  const giveUpAt = performance.now() + mostMs;
  for (let left = refs; ; await sleep(pauseMs)) {
    const still = [];
    for (const ref of left) if (await isLeft(ref)) still.push(ref);
    if (still.length === 0 || performance.now() > giveUpAt) return still;
    left = still;
  }
}

function notEnded(turns: number): Error {
  const what = turns === 1 ? 'A turn of this user has' : `${turns} turns of this user have`;
  return Object.assign(
    new Error(
      `${what} not ended yet, so not everything is erased. See that a worker runs, and run the command again.`,
    ),
    { name: 'NotErased' },
  );
}

/** `rateLimitKey` in principal.ts names the owners of sessions. */
function isOf(owner: string, tenant: string, user: string): boolean {
  try {
    const [kind, ofTenant, ofUser] = JSON.parse(owner) as unknown[];
    return kind === 'user' && ofTenant === tenant && ofUser === user;
  } catch {
    return false;
  }
}
