/**
 * How a turn enters a conversation, or is withdrawn before. Each function is one transaction, and locks the rows of turns
 * before the row of their conversation.
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { TurnRef, Turn, TurnEndStatus, TurnOwner } from '../../turn/turn.ts';
import { compileOnce, isPostgres } from '../database.ts';
import { writeToConversation } from '../log/append.ts';
import { dueAfter, toTurn } from './turn-rows.ts';
import { removeEmptyConversation } from './erasure.ts';
import { insertImages } from './images.ts';
import type { TurnRow } from './turn-rows.ts';
import { routedByTemporal, currentBuildId } from './versions.ts';
import type { StoredMessage, ToolCallRow } from '../schema/turn-tables.ts';
import { fromJson } from '../schema.ts';
import type { Row, Tables } from '../schema.ts';
import { deleteRows, findRow } from '../statements.ts';
import { isOver } from '../write-refused.ts';
import { lockLeftOpen, StartOver } from './settling.ts';
import type { Settled } from './settling.ts';
import { onlyWaits, readOpenWork } from './superseding.ts';
import { endTurn, lockOpenCalls } from './turn-end.ts';
import type { NewImage } from './images.ts';
import type { CallResult } from './tool-calls.ts';

export interface NewTurn extends Turn, TurnOwner {
  clientMessageId: string;
  /** What the turn starts with: normally one user message; for a new conversation, its whole history. */
  messages: Omit<StoredMessage, 'turnId'>[];
  /** The images in these messages. */
  images?: NewImage[];
  /** W3C's `traceparent` of the turn's first span; absent: it is not traced. */
  traceParent?: string;
}

/** How a new message treats the conversation's live turn. */
export interface Replacing {
  /**
   * For a turn that is at work. `refuse`: it continues. `cancel`: it is ended. A turn that only waits for people always makes
   * room.
   */
  onBusy: 'refuse' | 'cancel';
  /** As in `Ending`, for the turn that makes room. */
  resultOf(live: TurnRow, status: TurnEndStatus): (call: ToolCallRow) => CallResult;
}

export type Prepared =
  /** `replaced`: the turn that has made room, and how it ended. */
  | { kind: 'prepared'; buildId: string; replaced?: TurnRow }
  /** Another turn was prepared for the same client message. */
  | { kind: 'known' }
  /** The live turn is at work, or is ending. */
  | { kind: 'busy'; turnId: string; isEnding: boolean }
  | { kind: 'foreign-conversation' }
  | { kind: 'no-version' }
  /** Of the user or of the tenant. */
  | { kind: 'too-many-turns' | 'tokens-spent'; of: 'user' | 'tenant' };

/** Of what an owner may have; absent: any number. */
export interface StartLimits {
  /** Live turns in other conversations. */
  ofUser?: number | undefined;
  ofTenant?: number | undefined;
  /** Who has used up the tokens of the day. */
  spent?: 'user' | 'tenant' | undefined;
}

/** A turn that no workflow has begun within this time never will be. */
const abandonedAfterMs = 60 * 60 * 1000;

type Write = Transaction<Tables>;

/** Rolls the transaction back. */
export class NotPrepared extends Error {
  override name = 'NotPrepared';
  readonly why: Exclude<Prepared, { kind: 'prepared' }>;

  constructor(why: Exclude<Prepared, { kind: 'prepared' }>) {
    super(`The turn was not prepared: ${why.kind}.`);
    this.why = why;
  }
}

/** `replaced`: the turn that has made room, and what its end leaves to announce. */
interface Preparation {
  buildId: string;
  replaced?: Settled & { turn: TurnRow };
}

interface Preparing {
  turn: NewTurn;
  replacing: Replacing;
  deployment: string | undefined;
  limits: StartLimits;
}

export async function prepareTurn(
  write: Write,
  { turn, replacing, deployment, limits }: Preparing,
  now: number,
): Promise<Preparation> {
  const { tenant, conversation, turnId, user, service = null, agent, clientMessageId } = turn;
  const isForeign = (row: { user_id: string | null; service: string | null }) =>
    row.user_id !== user || row.service !== service;
  const before = await turnsBeside(write, turn);
  if (before.some(isForeign)) throw new NotPrepared({ kind: 'foreign-conversation' });
  const own = before.find((row) => row.turn_id === turnId);
  if (own) return { buildId: own.build_id ?? routedByTemporal };
  const known = before.find((row) => row.client_message_id === clientMessageId);
  if (known && !(await removeUnbegun(write, known.turn_id))) throw new NotPrepared({ kind: 'known' });
  if (limits.spent) throw new NotPrepared({ kind: 'tokens-spent', of: limits.spent });
  const live = before.find(({ status }) => !isOver(status));
  const replaced = live && (await makeRoom(write, live, replacing, now));

  const isLimited = user !== null && limits.ofUser !== undefined;
  // The update changes nothing, but locks the row, so that no other turn is prepared or withdrawn meanwhile.
  const owner = await write
    .insertInto('conversations')
    .values({
      tenant,
      conversation,
      user_id: user,
      service,
      agent,
      last_seq: 0,
      last_position: 0,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'conversation'])
        .doUpdateSet((row) => ({ created_at: row.ref('conversations.created_at') })),
    )
    .returning(['user_id', 'service'])
    .$if(isLimited && isPostgres(write), (row) => row.returning(lockStartsOf(tenant, user ?? '')))
    .executeTakeFirstOrThrow();
  if (isForeign(owner)) throw new NotPrepared({ kind: 'foreign-conversation' });
  const beside = await turnsBeside(write, turn);
  if (beside.some((row) => !isOver(row.status) || row.client_message_id === clientMessageId))
    throw new StartOver();

  const prepared = await write
    .insertInto('turns')
    .values({
      turn_id: turnId,
      tenant,
      conversation,
      user_id: user,
      service,
      agent,
      capabilities: JSON.stringify(turn.capabilities),
      status: 'starting',
      client_message_id: clientMessageId,
      staged: JSON.stringify(turn.messages),
      created_at: now,
      ended_at: null,
      ending_at: null,
      build_id: deployment === undefined ? routedByTemporal : currentBuildId(deployment),
      trace_parent: turn.traceParent ?? null,
      ...dueAfter.prepare(now),
    })
    .returning([
      'build_id',
      liveElsewhere(turn, isLimited ? limits.ofUser : 0, 'user').as('ofUser'),
      liveElsewhere(turn, limits.ofTenant ?? 0, 'tenant').as('ofTenant'),
    ])
    .executeTakeFirstOrThrow();
  if (isLimited && Number(prepared.ofUser) >= (limits.ofUser ?? 0))
    throw new NotPrepared({ kind: 'too-many-turns', of: 'user' });
  if (Number(prepared.ofTenant) >= (limits.ofTenant ?? Infinity))
    throw new NotPrepared({ kind: 'too-many-turns', of: 'tenant' });
  if (prepared.build_id === null) throw new NotPrepared({ kind: 'no-version' });
  await insertImages(write, turnId, turn.images ?? []);
  return { buildId: prepared.build_id, ...(replaced && { replaced }) };
}

/** A user's turns start one after the other, so that they are counted correctly; a tenant's do not. */
function lockStartsOf(tenant: string, user: string) {
  const name = JSON.stringify(['start-turn', tenant, user]);
  return sql<unknown>`pg_advisory_xact_lock(hashtextextended(${name}, 0))`.as('locked');
}

/** The live turns of the user or of the tenant in other conversations, counted up to `most`; not the one being inserted. */
function liveElsewhere({ tenant, user, conversation }: NewTurn, most = 0, of: 'user' | 'tenant') {
  const owner = of === 'user' ? sql`tenant = ${tenant} and user_id = ${user}` : sql`tenant = ${tenant}`;
  return most === 0
    ? sql<number>`0`
    : sql<number>`(select count(*) from (select 1 from turns where ${owner}
        and status in ('starting', 'running') and conversation <> ${conversation} limit ${most}) as live)`;
}

const selectBeside = compileOnce((query, of: Record<'tenant' | 'conversation' | 'clientMessageId', string>) =>
  query
    .selectFrom('turns')
    .selectAll()
    .where(({ and }) => and({ tenant: of.tenant, conversation: of.conversation }))
    .where((row) =>
      row.or([
        row('status', 'in', ['starting', 'running']),
        row('client_message_id', '=', of.clientMessageId),
      ]),
    )
    .compile(),
);

/** The conversation's live turn, and the turns with the same message. */
async function turnsBeside(
  write: Write,
  { tenant, conversation, clientMessageId }: NewTurn,
): Promise<Row<'turns'>[]> {
  const { rows } = await selectBeside(write, { tenant, conversation, clientMessageId });
  return rows;
}

/** Ends the live turn if that is allowed. Undefined if it was deleted instead. */
async function makeRoom(
  write: Write,
  { turn_id: turnId }: Row<'turns'>,
  { onBusy, resultOf }: Replacing,
  now: number,
): Promise<Preparation['replaced']> {
  const row = await write
    .selectFrom('turns')
    .selectAll()
    .where('turn_id', '=', turnId)
    .$if(isPostgres(write), (turn) => turn.forNoKeyUpdate())
    .executeTakeFirst();
  if (!row || isOver(row.status)) throw new StartOver();
  if (row.status === 'starting' && row.created_at < now - abandonedAfterMs) {
    await deleteRows(write, 'turns', { turn_id: turnId });
    return undefined;
  }
  await lockLeftOpen(write, turnId);
  const calls = await lockOpenCalls(write, turnId);
  // A turn that is ending has no open question.
  const isWaiting = onlyWaits(await readOpenWork(write, turnId, calls));
  if (!isWaiting && onBusy === 'refuse')
    throw new NotPrepared({ kind: 'busy', turnId, isEnding: row.ending_at !== null });

  const status = isWaiting ? 'superseded' : 'cancelled';
  const live = toTurn({ ...row, input_tokens: null, output_tokens: null });
  const ended = await endTurn(write, live, status, { resultOf: resultOf(live, status) }, now);
  return {
    turn: { ...live, status, endedAt: now, usage: ended?.usage ?? null },
    questions: ended?.ended?.questions ?? [],
    marks: ended?.marks ?? [],
  };
}

/**
 * A turn that failed before it began has answered nothing, so the same message starts a new one. False for any other turn.
 */
async function removeUnbegun(write: Write, turnId: string): Promise<boolean> {
  const removed = await write
    .deleteFrom('turns')
    .where(({ and }) => and({ turn_id: turnId, status: 'failed' }))
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('turn_events')
            .select('seq')
            .where(({ and }) => and({ turn_id: turnId, key: 'turn-started' })),
        ),
      ),
    )
    .executeTakeFirst();
  return removed.numDeletedRows > 0n;
}

/** False when the turn was withdrawn or has ended. */
export async function beginTurn(write: Write, turn: TurnRef, now: number): Promise<boolean> {
  // Its messages stay staged until it ends: clearing them here would take another statement.
  const row = await write
    .updateTable('turns')
    .set({ status: 'running', ...dueAfter.begin(now) })
    .where(({ and }) => and({ turn_id: turn.turnId, status: 'starting' }))
    .returning(['agent', 'staged'])
    .executeTakeFirst();
  // An earlier attempt of the same activity may have begun it.
  if (!row) return (await thisTurn(write, turn))?.status === 'running';

  const messages = fromJson<Omit<StoredMessage, 'turnId'>[]>(row.staged ?? '[]');
  const event = { type: 'turn-started', agent: row.agent, messageId: turn.turnId } as const;
  await writeToConversation(write, turn, { messages, events: [{ key: 'turn-started', event }] }, now);
  return true;
}

export async function withdrawTurn(write: Write, turn: TurnRef): Promise<boolean> {
  const withdrawn = await deleteRows(write, 'turns', { turn_id: turn.turnId, status: 'starting' });
  if (withdrawn === 0) return (await thisTurn(write, turn)) === undefined;

  await removeEmptyConversation(write, turn);
  return true;
}

function thisTurn(write: Write, { turnId }: TurnRef): Promise<Row<'turns'> | undefined> {
  return findRow(write, 'turns', { turn_id: turnId });
}
