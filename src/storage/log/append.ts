/**
 * The only way to write to a conversation's log and transcript. Called inside a transaction.
 *
 * Numbers are taken from the conversation's row, which the transaction keeps locked until it commits: so sequence numbers
 * have no gaps and become visible in order. A transaction locks this row last, so that writers cannot deadlock.
 */
import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely, Transaction, RawBuilder } from 'kysely';
import type { ConversationRef, TurnRef, TurnStatus, Delegation } from '../../turn/turn.ts';
import { compileOnce, isOneOf } from '../database.ts';
import type { StoredMessage } from '../schema/turn-tables.ts';
import type { Tables } from '../schema.ts';
import { isOver, WriteRefused } from '../write-refused.ts';
import { keyOfStep } from '../../turn/event.ts';
import { eventToRow } from './coded-rows.ts';
import { fromJson } from '../schema.ts';
import type { TurnEvent } from '../../turn/event.ts';

/** An attempt at a model call. Steps count from 0 in each agent's work, attempts from 1. */
export interface StepAttempt {
  step: number;
  attempt: number;
}

export interface NewEvent {
  /** Unique within the turn. Appending a key again is a no-op, which makes retried activities harmless. */
  key: string;
  event: TurnEvent;
}

export interface Additions {
  messages?: Omit<StoredMessage, 'turnId'>[];
  events?: NewEvent[];
  /** The attempt that writes. Refused once a newer one has begun. */
  of?: StepAttempt;
  /** The turn's end, its last write. */
  isEnd?: boolean;
}

type Write = Transaction<Tables>;

/**
 * Adds what is new: messages by id, events by key. Existing ones take no number. Marks what a delegated agent writes. Refuses
 * new entries after the turn's end.
 */
export async function writeToConversation(
  write: Write,
  turn: TurnRef,
  additions: Additions,
  now: number,
): Promise<void> {
  const { messages = [] } = additions;
  const events = (additions.events ?? []).map((event) => placed(turn, event));
  if (messages.length === 0 && events.length === 0) return;
  const taken = await takeNumbers(write, turn, { events: events.length, messages: messages.length }, now);
  // It was erased, perhaps while an attempt was under way.
  if (!taken?.status) throw new WriteRefused('turn-ended');

  const before = taken.last_seq - events.length;
  if (isOver(taken.status) && additions.isEnd !== true) {
    // A repetition of what was written before the end is fine.
    if (messages.length > 0 || (await unknown(write, turn, events)).length > 0)
      throw new WriteRefused('turn-ended');
    return closeGaps(write, turn, [], before, now);
  }
  await insertMessages(write, turn, messages, taken.last_position - messages.length, now);
  const { inserted, locked } = await insertEvents(write, turn, events, before, now, additions.of);
  refuseIfLate(locked ?? taken, additions);
  if (inserted < events.length) await closeGaps(write, turn, events, before, now);
  await removeVoidText(write, turn, events);
}

interface Taken {
  last_seq: number;
  last_position: number;
  status: TurnStatus | null;
}

type Taking = Pick<TurnRef, 'tenant' | 'conversation' | 'turnId'> &
  Record<'events' | 'messages' | 'now', number>;

const updateNumbers = compileOnce((write, { tenant, conversation, turnId, events, messages, now }: Taking) =>
  sql<Taken>`
    update conversations
    set last_seq = last_seq + ${events}, last_position = last_position + ${messages}, updated_at = ${now}
    where tenant = ${tenant} and conversation = ${conversation}
    returning last_seq, last_position, (
      select status from turns
      where turn_id = ${turnId} and turns.tenant = ${tenant} and turns.conversation = ${conversation}
    ) as status`.compile(write),
);

/** Locks the conversation, and takes the numbers for what is about to be written. */
async function takeNumbers(
  write: Write,
  { tenant, conversation, turnId }: TurnRef,
  count: { events: number; messages: number },
  now: number,
): Promise<Taken | undefined> {
  const { rows } = await updateNumbers(write, { tenant, conversation, turnId, ...count, now });
  return rows[0];
}

/** As of the lock on the conversation. */
interface LockedState {
  status: TurnStatus | null;
  /** The newest attempt at the step. */
  attempt?: number | null;
}

function refuseIfLate({ status, attempt }: LockedState, { of, isEnd }: Additions): void {
  if (status !== null && isOver(status) && isEnd !== true) throw new WriteRefused('turn-ended');
  if (of && (attempt ?? 0) > of.attempt) throw new WriteRefused('newer-attempt');
}

/** Rare: fewer events were new than numbers were taken. Inserts them again, without gaps. */
async function closeGaps(
  write: Write,
  turn: TurnRef,
  events: NewEvent[],
  before: number,
  now: number,
): Promise<void> {
  await write.deleteFrom('turn_events').where(isConversation(turn)).where('seq', '>', before).execute();
  const { inserted } = await insertEvents(write, turn, await unknown(write, turn, events), before, now);
  await write
    .updateTable('conversations')
    .set({ last_seq: before + inserted })
    .where(isConversation(turn))
    .execute();
}

/** Events whose key is not in the log, each once. */
async function unknown(write: Write, turn: TurnRef, events: NewEvent[]): Promise<NewEvent[]> {
  const keys = events.map(({ key }) => key);
  const rows = await write
    .selectFrom('turn_events')
    .select('key')
    .where('turn_id', '=', turn.turnId)
    .where(isOneOf(write, 'key', keys))
    .execute();
  const known = new Set(rows.map(({ key }) => key));
  return events.filter(({ key }) => !known.has(key) && known.add(key));
}

/**
 * `locked` is as of the lock on the conversation: what was read together with the lock may be older. Null when no event was
 * new.
 */
async function insertEvents(
  write: Write,
  turn: TurnRef,
  events: NewEvent[],
  before: number,
  now: number,
  of?: StepAttempt,
): Promise<{ inserted: number; locked: LockedState | null }> {
  const { tenant, conversation, turnId } = turn;
  const values = events.map(({ key, event }, index) => {
    const seq = before + 1 + index;
    return sql`(${tenant}, ${conversation}, ${seq}, ${turnId}, ${key}, ${eventToRow(event)}, ${now})`;
  });
  let inserted = 0;
  let locked: LockedState | null = null;
  for (const chunk of chunks(values)) {
    const { rows } = await sql<LockedState>`
      insert into turn_events (tenant, conversation, seq, turn_id, key, event, at)
      values ${sql.join(chunk)}
      on conflict (turn_id, key) do nothing
      returning
        (select status from turns where turns.turn_id = ${turnId}) as status,
        ${of ? sql`(select attempt from turn_steps where turn_steps.turn_id = ${turnId} and turn_steps.key = ${stepKey(turn, of)})` : sql`null`} as attempt
    `.execute(write);
    inserted += rows.length;
    locked = rows.at(-1) ?? locked;
  }
  return { inserted, locked };
}

async function insertMessages(
  write: Write,
  turn: TurnRef,
  messages: Omit<StoredMessage, 'turnId'>[],
  before: number,
  now: number,
): Promise<void> {
  const { tenant, conversation, turnId } = turn;
  const delegation = columnOf(turn);
  const rows = messages.map(({ id, role, content }, index) => ({
    tenant,
    conversation,
    id,
    position: before + 1 + index,
    turn_id: turnId,
    role,
    content: JSON.stringify(content),
    delegation,
    created_at: now,
  }));
  for (const chunk of chunks(rows)) {
    await write
      .insertInto('messages')
      .values(chunk)
      .onConflict((conflict) => conflict.columns(['tenant', 'conversation', 'id']).doNothing())
      .execute();
  }
}

/** The key of the step's row. */
export function stepKey(turn: TurnRef, { step }: StepAttempt): string {
  return keyOf(turn.delegation?.toolCallId, `step/${step}`);
}

/** For `where` on tables with both columns. */
export function isConversation({ tenant, conversation }: ConversationRef) {
  return (row: ExpressionBuilder<Tables, 'conversations' | 'turns' | 'turn_events' | 'messages'>) =>
    row.and([row('tenant', '=', tenant), row('conversation', '=', conversation)]);
}

/** Both databases limit the number of parameters of a statement. */
export function* chunks<T>(items: T[], size = 500): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** The counters of these conversations. They grow with every event. */
export async function lastSeqs(query: Kysely<Tables>, refs: ConversationRef[]) {
  const rows = [];
  for (const chunk of chunks(refs)) {
    const found = query
      .selectFrom('conversations')
      .select(['tenant', 'conversation', 'last_seq'])
      .where((row) => row.or(chunk.map((ref) => isConversation(ref)(row))));
    rows.push(...(await found.execute()));
  }
  return rows;
}

/** For `where` on `turn_events`: output of this step, from any attempt. */
export function isSaidIn(turn: TurnRef, step: number): RawBuilder<boolean> {
  const prefix = keyOf(turn.delegation?.toolCallId, keyOfStep(step));
  // Not by a range of keys: PostgreSQL sorts them by its locale.
  return sql<boolean>`substr(key, 1, ${sql.lit(prefix.length)}) = ${prefix}`;
}

/**
 * Deletes the output of a step's earlier attempts when its `reset-step` is among the events just written. Sequence numbers
 * are not reused. Only entries before the `reset-step` are deleted, so that writing it again does not affect the attempt
 * after it.
 */
async function removeVoidText(write: Transaction<Tables>, turn: TurnRef, written: NewEvent[]): Promise<void> {
  for (const { key, event } of written) {
    if (event.type !== 'reset-step') continue;
    await write
      .deleteFrom('turn_events')
      .where('turn_id', '=', turn.turnId)
      .where(isSaidIn(turn, event.step))
      .where('seq', '<', ({ selectFrom }) =>
        selectFrom('turn_events').select('seq').where('turn_id', '=', turn.turnId).where('key', '=', key),
      )
      .execute();
  }
}

/**
 * A delegated agent writes into its turn's log and transcript with a prefix, so that its steps, messages and calls never
 * collide with those of the delegating agent, or of another call of the same agent.
 */
export function keyOf(parentToolCallId: string | undefined, key: string): string {
  return parentToolCallId === undefined ? key : `agent/${parentToolCallId}/${key}`;
}

function placed(turn: TurnRef, { key, event }: NewEvent): NewEvent {
  const { delegation } = turn;
  if (!delegation) return { key, event };
  const { path, toolCallId: parentToolCallId } = delegation;
  return { key: keyOf(parentToolCallId, key), event: { ...event, path, parentToolCallId } };
}

/** Always the same text for the same delegation, because rows are found by it. */
export function columnOf({ delegation }: TurnRef): string | null {
  if (!delegation) return null;
  const { toolCallId, path } = delegation;
  return JSON.stringify({ toolCallId, path } satisfies Delegation);
}

export function fromColumn(text: string | null): Pick<TurnRef, 'delegation'> {
  return text === null ? {} : { delegation: fromJson<Delegation>(text) };
}
