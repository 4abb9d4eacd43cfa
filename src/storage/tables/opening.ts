/**
 * How questions open. Opening a question about an account locks the account's row, which is created if needed, so that
 * opening and connecting cannot miss each other. The questions of one user open one transaction after another, so that they
 * are counted correctly and found at their places.
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { TooManyOpen } from '../../turn/ask.ts';
import { compileOnce, isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import { writeToConversation } from '../log/append.ts';
import type { ElicitationRow } from '../schema/question-tables.ts';
import type { NewQuestion } from './elicitation-rows.ts';
import type { Row, Tables } from '../schema.ts';
import { isOver } from '../write-refused.ts';
import { lockConnection } from './connections.ts';
import { eventOf, toElicitation, toRow } from './elicitation-rows.ts';
import { addPoll } from './polls.ts';

/** The maximal numbers of open questions. `perTurn` is `perUser` by default; a tenant may have any number. */
export interface OpenLimits {
  perUser: number;
  perTurn?: number;
  perTenant?: number | undefined;
}

type Write = Transaction<Tables>;

export type Opening =
  /** `rows`: in the given order. `opened`: the new ones. */
  | { kind: 'opened'; rows: ElicitationRow[]; opened: ElicitationRow[]; time: number }
  | { kind: 'already-connected'; version: number }
  | { kind: 'over' }
  | { kind: TooManyOpen };

/** Rolls the transaction back. */
export class NotOpened extends Error {
  override name = 'NotOpened';
  readonly why: Exclude<Opening, { kind: 'opened' }>;

  constructor(why: Exclude<Opening, { kind: 'opened' }>) {
    super(`Nothing was opened: ${why.kind}.`);
    this.why = why;
  }
}

/** The questions of one call. */
export async function openQuestions(
  { now, timeIn }: Database,
  write: Write,
  questions: NewQuestion[],
  limits: OpenLimits,
): Promise<Opening> {
  const [first] = questions;
  if (!first) return { kind: 'opened', rows: [], opened: [], time: 0 };
  await expectUnconnected(write, questions, now());
  const { traceParent } = await expectLive(write, first);
  const places = questions.map(({ place }) => place);
  const existing = await write
    .selectFrom('elicitations')
    .selectAll()
    .where('place', 'in', places)
    .orderBy('id')
    .$if(isPostgres(write), (some) => some.forNoKeyUpdate())
    .execute();
  await expectUnfinished(write, first);

  const time = await timeIn(write);
  const byPlace = new Map(existing.map((row) => [row.place, toElicitation(row)]));
  const fresh = questions.filter(({ place }) => !byPlace.has(place));
  const lastSettled = fresh.length > 0 ? await expectRoom(write, first, fresh.length, limits, time) : 0;
  // Later than anything its call may have acted on, even if the clock of the process that settled that is ahead.
  const at = Math.max(now(), lastSettled + 1);
  const opened = fresh.map((question) => ({
    ...newRow(question, at, time),
    ...(traceParent !== null && { traceParent }),
  }));
  const rows = fresh.flatMap((question, index) => {
    const row = opened[index];
    if (!row) return [];
    byPlace.set(question.place, row);
    return toRow(row, question);
  });
  for (const { poll } of fresh) if (poll) await addPoll(write, poll, at);
  if (rows.length > 0) await write.insertInto('elicitations').values(rows).execute();
  await addWaiters(write, questions, byPlace);
  const events = opened.map((row) => eventOf(row, 'pending'));
  if (events.length > 0) await writeToConversation(write, first, { events }, at);
  return { kind: 'opened', rows: places.flatMap((place) => byPlace.get(place) ?? []), opened, time };
}

function newRow(question: NewQuestion, at: number, time: number): ElicitationRow {
  const { place: _, waiter: _waiter, poll: _poll, timeoutMs, expiresAt = Infinity, ...given } = question;
  return {
    ...given,
    status: 'pending',
    responseId: null,
    consent: null,
    createdAt: at,
    deadline: Math.min(time + timeoutMs, expiresAt),
    settledAt: null,
    because: null,
    isUnused: false,
  };
}

async function expectUnconnected(write: Write, questions: NewQuestion[], at: number): Promise<void> {
  const inOrder = questions.toSorted((one, other) => ((one.server ?? '') < (other.server ?? '') ? -1 : 1));
  for (const { tenant, user, server, seenVersion } of inOrder) {
    if (server === null) continue;
    const { status, version } = await lockConnection(write, { tenant, server, user }, at);
    if (status === 'active' && version > (seenVersion ?? 0))
      throw new NotOpened({ kind: 'already-connected', version });
  }
}

type LockedTurn = Pick<Row<'turns'>, 'status' | 'ending_at' | 'trace_parent'>;

const lockTurn = compileOnce((write, { turnId, name }: { turnId: string; name: string }) =>
  isPostgres(write)
    ? sql<LockedTurn>`
        select status, ending_at, trace_parent, pg_advisory_xact_lock(hashtextextended(${name}, 0))
        from turns where turn_id = ${turnId} for share`.compile(write)
    : sql<LockedTurn>`
        select status, ending_at, trace_parent from turns where turn_id = ${turnId}`.compile(write),
);

/** The end of a turn closes the questions that it sees, so it has to come before all of this, or after. */
async function expectLive(
  write: Write,
  { tenant, user, turnId }: NewQuestion,
): Promise<{ traceParent: string | null }> {
  const name = JSON.stringify(['open-elicitations', tenant, user]);
  const {
    rows: [turn],
  } = await lockTurn(write, { turnId, name });
  if (!turn || isOver(turn.status) || turn.ending_at !== null) throw new NotOpened({ kind: 'over' });
  return { traceParent: turn.trace_parent };
}

const updateAsking = compileOnce((write, { turnId, toolCallId }: { turnId: string; toolCallId: string }) =>
  write
    .updateTable('tool_calls')
    .set({ has_asked: 1 })
    .where(({ and }) => and({ turn_id: turnId, tool_call_id: toolCallId }))
    .returning('state')
    .compile(),
);

async function expectUnfinished(write: Write, { turnId, waiter }: NewQuestion): Promise<void> {
  const { rows } = await updateAsking(write, { turnId, toolCallId: waiter.toolCallId });
  if (rows[0]?.state === 'finished') throw new NotOpened({ kind: 'over' });
}

const countOpen = compileOnce(
  (write, { tenant, user, turnId, time }: Record<'tenant' | 'user' | 'turnId', string> & { time: number }) =>
    write
      .selectFrom('elicitations')
      .select(({ fn }) => [
        fn.countAll<number>().as('open'),
        fn.countAll<number>().filterWhere('turn_id', '=', turnId).as('inTurn'),
        sql<number | null>`(select max(settled_at) from elicitations where turn_id = ${turnId})`.as(
          'settled',
        ),
      ])
      .where(({ and }) => and({ tenant, user_id: user, status: 'pending' }))
      .where('deadline', '>', time)
      .compile(),
);

/** Counted up to `most`. Questions of other users may open meanwhile. */
const countOpenInTenant = compileOnce((write, { tenant, most }: { tenant: string; most: number }) =>
  sql<{ open: number }>`
    select count(*) as open from (
      select 1 from elicitations where tenant = ${tenant} and status = 'pending' limit ${most}
    ) as pending`.compile(write),
);

/** Returns when a question of the turn was last settled. */
async function expectRoom(
  write: Write,
  { tenant, user, turnId }: NewQuestion,
  count: number,
  { perUser, perTurn = perUser, perTenant }: OpenLimits,
  time: number,
): Promise<number> {
  const { rows } = await countOpen(write, { tenant, user, turnId, time });
  const { open = 0, inTurn = 0, settled } = rows[0] ?? {};
  if (open + count > perUser) throw new NotOpened({ kind: 'too-many-open' });
  if (inTurn + count > perTurn) throw new NotOpened({ kind: 'too-many-in-turn' });
  if (perTenant !== undefined) {
    const ofTenant = await countOpenInTenant(write, { tenant, most: perTenant });
    if (Number(ofTenant.rows[0]?.open) + count > perTenant)
      throw new NotOpened({ kind: 'too-many-in-tenant' });
  }
  return settled ?? 0;
}

/** Also for settled questions, because their calls have asked them. */
async function addWaiters(
  write: Write,
  questions: NewQuestion[],
  byPlace: ReadonlyMap<string, ElicitationRow>,
): Promise<void> {
  const rows = questions.flatMap(({ place, waiter }) => {
    const row = byPlace.get(place);
    const { toolCallId, workflowId } = waiter;
    return row ? [{ elicitation_id: row.id, tool_call_id: toolCallId, workflow_id: workflowId }] : [];
  });
  await write
    .insertInto('question_waiters')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['elicitation_id', 'tool_call_id'])
        .doUpdateSet((row) => ({ workflow_id: row.ref('excluded.workflow_id') })),
    )
    .execute();
}
