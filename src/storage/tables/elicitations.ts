import { sql } from 'kysely';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Logger } from 'pino';
import { compileOnce } from '../compile-once.ts';
import { writeToConversation } from '../log/append.ts';
import { consentOf, eventOf, settledEvent, toElicitation, toRow, settleRows } from './elicitation-rows.ts';
import { followQuestionsOf, openQuestionsOf } from './open-questions.ts';
import { addPoll } from './polls.ts';
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { TooManyOpen } from '../../turn/ask.ts';
import type { ElicitationRow, Elicitations, OpenLimits } from '../ports/elicitations.ts';
import type { NewPoll } from '../ports/polls.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

const selectOne = compileOnce((query, { id }: { id: string }) =>
  query.selectFrom('elicitations').selectAll().where('id', '=', id).compile(),
);
const selectPending = compileOnce((query, of: { tenant: string; server: string }) =>
  pendingOf(query, of).compile(),
);
const selectPendingOf = compileOnce((query, of: { tenant: string; server: string; user: string }) =>
  pendingOf(query, of).where('user_id', '=', of.user).compile(),
);
const insertAnswer = compileOnce((query, answer: Selectable<Tables['elicitation_answers']>) => {
  const { elicitation_id, response_id, action, sealed_content, received_at, surface } = answer;
  return query
    .insertInto('elicitation_answers')
    .values({ elicitation_id, response_id, action, sealed_content, received_at, surface })
    .onConflict((conflict) => conflict.columns(['elicitation_id', 'response_id']).doNothing())
    .compile();
});

function pendingOf(query: Kysely<Tables>, { tenant, server }: { tenant: string; server: string }) {
  return query
    .selectFrom('elicitations')
    .selectAll()
    .where('status', '=', 'pending')
    .where('tenant', '=', tenant)
    .where('server', '=', server)
    .orderBy('created_at')
    .orderBy('id');
}

export function createElicitations(database: Database, logger: Logger): Elicitations {
  const { query, notifications, questions, now } = database;
  const get = (id: string) => find(query, id);

  async function settleAll(settlements: Settlement[]): Promise<ElicitationRow[]> {
    if (settlements.length === 0) return [];
    const at = now();
    const settled = await query.transaction().execute(async (write) => {
      const rows = await settleRows(write, settlements, at);
      const [first] = rows;
      if (first) await writeToConversation(write, first, { events: rows.map(settledEvent) }, at);
      return rows;
    });
    const [first] = settled;
    if (first) notifications.announce(first);
    for (const question of settled) questions.settled(question);
    return settled;
  }

  return {
    async open(row, limits, poll) {
      const opened = await query.transaction().execute((write) => open(database, write, row, limits, poll));
      if (opened === 'too-many-open' || opened === 'too-many-in-turn') return opened;
      notifications.announce(row);
      if (opened !== 'known') questions.opened(opened);
      return 'opened';
    },
    async settle(id, outcome, responseId, because) {
      const settlement = { elicitationId: id, outcome, responseId, ...(because && { because }) };
      return (await settleAll([settlement])).length > 0;
    },
    settleAll,
    get,
    untilSettled: (asked, signal) => untilSettled(database, asked, signal),
    async ofConversation({ tenant, conversation }, status) {
      const rows = await query
        .selectFrom('elicitations')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('conversation', '=', conversation)
        .$if(status !== undefined, (some) => some.where('status', '=', status ?? 'pending'))
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toElicitation);
    },
    openOf: (asked) => openQuestionsOf(database, asked),
    followOf: (asked, signal) => followQuestionsOf(database, asked, signal, logger),
    async pendingFor({ tenant, server, user }) {
      const { rows } =
        user === null
          ? await selectPending(query, { tenant, server })
          : await selectPendingOf(query, { tenant, server, user });
      return rows.map(toElicitation);
    },
    connectedButPending: () => connectedButPending(database),
    async noteConsent(question) {
      const at = now();
      await query.transaction().execute((write) => noteConsent(write, question, at));
      notifications.announce(question);
    },
    async storeAnswer(elicitationId, { responseId, action, sealedContent, receivedAt, surface }) {
      const { numAffectedRows } = await insertAnswer(query, {
        elicitation_id: elicitationId,
        response_id: responseId,
        action,
        sealed_content: sealedContent,
        received_at: receivedAt,
        surface: surface ?? null,
      });
      return Number(numAffectedRows) > 0;
    },
    async answer(elicitationId, responseId) {
      const row = await query
        .selectFrom('elicitation_answers')
        .selectAll()
        .where('elicitation_id', '=', elicitationId)
        .where('response_id', '=', responseId)
        .executeTakeFirst();
      if (!row) return null;
      const { action, sealed_content: sealedContent, received_at: receivedAt, surface } = row;
      return { responseId, action, sealedContent, receivedAt, ...(surface !== null && { surface }) };
    },
  };
}

async function find(query: Kysely<Tables>, id: string): Promise<ElicitationRow | null> {
  const { rows } = await selectOne(query, { id });
  return rows[0] ? toElicitation(rows[0]) : null;
}

async function untilSettled(
  { query, notifications }: Database,
  { id, ...conversation }: Parameters<Elicitations['untilSettled']>[0],
  signal: AbortSignal,
): Promise<ElicitationRow | null> {
  const subscription = notifications.subscribe(conversation);
  const { promise: given, resolve: giveUp } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => giveUp(), { once: true });
  try {
    while (!signal.aborted && !notifications.closed) {
      subscription.reset();
      const row = await find(query, id);
      if (row && row.status !== 'pending') return row;
      await Promise.race([subscription.notified(), given]);
    }
    return null;
  } finally {
    subscription.close();
  }
}

async function connectedButPending({ query, now }: Database) {
  const rows = await query
    .selectFrom('elicitations')
    .selectAll('elicitations')
    .innerJoin('connections', (join) =>
      join
        .onRef('connections.tenant', '=', 'elicitations.tenant')
        .onRef('connections.server', '=', 'elicitations.server')
        .on((row) =>
          row.or([
            row('connections.user_id', '=', row.ref('elicitations.user_id')),
            row('connections.user_id', '=', ''),
          ]),
        ),
    )
    .select('connections.version')
    .where('elicitations.status', '=', 'pending')
    .where('elicitations.deadline', '>', now())
    .where('connections.status', '=', 'active')
    .whereRef('connections.version', '>', 'elicitations.seen_version')
    .execute();
  return rows.map((row) => ({ ...toElicitation(row), version: row.version }));
}

async function noteConsent(
  write: Transaction<Tables>,
  { id, request, ...turn }: Parameters<Elicitations['noteConsent']>[0],
  at: number,
): Promise<void> {
  // Also locks it: nobody settles it in between.
  const { numUpdatedRows } = await write
    .updateTable('elicitations')
    .set({ status: 'pending' })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0)
    await writeToConversation(write, turn, { events: [consentOf({ id, request })] }, at);
}

async function open(
  { kind, now }: Database,
  write: Transaction<Tables>,
  row: Parameters<Elicitations['open']>[0],
  { perUser, perTurn = perUser }: OpenLimits,
  poll: NewPoll | undefined,
): Promise<ElicitationRow | 'known' | TooManyOpen> {
  const { tenant, user } = row;
  if (kind === 'postgres') {
    // Counting and inserting must not interleave for one user, nor with the end of the turn, which closes the questions
    // that it sees; SQLite's transactions never do.
    const name = JSON.stringify(['open-elicitations', tenant, user]);
    await sql`
      select pg_advisory_xact_lock(hashtextextended(${name}, 0)) from turns where turn_id = ${row.turnId} for share
    `.execute(write);
  }
  const existing = await write
    .selectFrom('elicitations')
    .select('id')
    .where('id', '=', row.id)
    .executeTakeFirst();
  if (existing) return 'known';

  const at = now();
  const { open, inTurn } = await write
    .selectFrom('elicitations')
    .select(({ fn }) => [
      fn.countAll<number>().as('open'),
      fn.countAll<number>().filterWhere('turn_id', '=', row.turnId).as('inTurn'),
    ])
    .where('tenant', '=', tenant)
    .where('user_id', '=', user)
    .where('status', '=', 'pending')
    .where('deadline', '>', at)
    .executeTakeFirstOrThrow();
  if (open >= perUser) return 'too-many-open';
  if (inTurn >= perTurn) return 'too-many-in-turn';

  const elicitation: ElicitationRow = {
    ...row,
    status: 'pending',
    responseId: null,
    createdAt: at,
    settledAt: null,
    because: null,
  };
  if (poll) await addPoll(write, row, poll, at);
  await write
    .insertInto('elicitations')
    .values(toRow(elicitation, poll?.id ?? null))
    .execute();
  await writeToConversation(write, row, { events: [eventOf(elicitation, 'pending')] }, at);
  return elicitation;
}
