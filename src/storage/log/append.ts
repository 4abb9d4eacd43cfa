/**
 * The one way into a conversation's log and transcript, to be called inside a transaction.
 *
 * Numbers are taken from the conversation's row, which the transaction keeps locked until it commits: that is
 * what makes sequence numbers gap-free and visible in order. So that writers never wait for each other in a
 * circle, a transaction locks this row last.
 */
import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import type { ConversationRef, TurnRef, TurnStatus } from '../../turn/turn.ts';
import { compileOnce } from '../compile-once.ts';
import { columnOf, keyOf, placed } from '../tables/delegation.ts';
import type { NewEvent } from '../ports/turn-log.ts';
import type { StepAttempt } from '../ports/steps.ts';
import type { StoredMessage } from '../ports/conversations.ts';
import type { Tables } from '../schema.ts';
import { removeVoidText } from './void-text.ts';
import { isOver, WriteRefused } from '../write-refused.ts';

export interface Additions {
  messages?: Omit<StoredMessage, 'turnId'>[];
  events?: NewEvent[];
  /** The attempt that says it: refused once a newer one has begun. */
  of?: StepAttempt;
  /** The end's own words, the last that a turn takes. */
  isEnd?: boolean;
}

type Write = Transaction<Tables>;

/**
 * Adds what is not there yet: messages by id, events by key. Takes no number for what is. What a delegated agent does is
 * marked so. A turn that has ended takes nothing new.
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
  if (!taken?.status) throw new Error(`turn ${turn.turnId} does not exist: prepare it before writing to it`);

  const before = taken.last_seq - events.length;
  if (isOver(taken.status) && additions.isEnd !== true) {
    // A repetition of what was written in time is none the worse.
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

/** Locks the conversation, and with it the numbers of what is about to be written. */
async function takeNumbers(
  write: Write,
  { tenant, conversation, turnId }: TurnRef,
  count: { events: number; messages: number },
  now: number,
): Promise<Taken | undefined> {
  const { rows } = await updateNumbers(write, { tenant, conversation, turnId, ...count, now });
  return rows[0];
}

/** As the database has it while the conversation is locked. */
interface LockedState {
  status: TurnStatus | null;
  /** The newest attempt at the step that is written to. */
  attempt?: number | null;
}

function refuseIfLate({ status, attempt }: LockedState, { of, isEnd }: Additions): void {
  if (status !== null && isOver(status) && isEnd !== true) throw new WriteRefused('turn-ended');
  if (of && (attempt ?? 0) > of.attempt) throw new WriteRefused('newer-attempt');
}

/** Fewer events are new than numbers were taken, which is rare: puts them in again, without gaps. */
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

/** Those whose key the log does not have, each once. */
async function unknown(write: Write, turn: TurnRef, events: NewEvent[]): Promise<NewEvent[]> {
  const known = new Set<string>();
  for (const chunk of chunks(events)) {
    const rows = await write
      .selectFrom('turn_events')
      .select('key')
      .where('turn_id', '=', turn.turnId)
      .where(
        'key',
        'in',
        chunk.map(({ key }) => key),
      )
      .execute();
    for (const { key } of rows) known.add(key);
  }
  return events.filter(({ key }) => !known.has(key) && known.add(key));
}

/**
 * `locked` is as of now, while the conversation is locked: what was read together with the lock may be from before
 * another writer had it. Null when nothing was new.
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
    return sql`(${tenant}, ${conversation}, ${seq}, ${turnId}, ${key}, ${JSON.stringify(event)}, ${now})`;
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

/** Of the step's row. */
export function stepKey(turn: TurnRef, { step }: StepAttempt): string {
  return keyOf(turn, `step/${step}`);
}

/** Condition on any table that has both columns. */
export function isConversation({ tenant, conversation }: ConversationRef) {
  return (row: ExpressionBuilder<Tables, 'conversations' | 'turns' | 'turn_events' | 'messages'>) =>
    row.and([row('tenant', '=', tenant), row('conversation', '=', conversation)]);
}

/** Both databases limit how many values one statement may carry. */
export function* chunks<T>(items: T[], size = 500): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** The counters of some conversations, which grow with every event. */
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
