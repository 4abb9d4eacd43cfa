import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Outcome } from '../../elicitation/elicitation.ts';
import { compileOnce } from '../compile-once.ts';
import type { Database } from '../database.ts';
import { chunks } from '../log/append.ts';
import type { ElicitationRow, Elicitations, SettlingEvent, TimedQuestion } from '../ports/elicitations.ts';
import type { Tables } from '../schema.ts';
import { createAnswer, deleteContent, recordedAnswer } from './answering.ts';
import { toElicitation } from './elicitation-rows.ts';
import { followQuestionsOf, openQuestionsOf } from './open-questions.ts';
import { NotOpened, openQuestions } from './opening.ts';
import {
  advanced,
  announceSettled,
  lockQuestions,
  startingOver,
  stopWaiting,
  waitedForBy,
  writeSettled,
} from './settling.ts';

const selectOne = compileOnce((query, { id }: { id: string }) =>
  query.selectFrom('elicitations').selectAll().where('id', '=', id).compile(),
);
const selectOfCall = compileOnce((query, { turnId, toolCallId }: { turnId: string; toolCallId: string }) =>
  query
    .selectFrom('elicitations')
    .innerJoin('question_waiters', 'question_waiters.elicitation_id', 'elicitations.id')
    .selectAll('elicitations')
    .where('turn_id', '=', turnId)
    .where('tool_call_id', '=', toolCallId)
    .orderBy('created_at')
    .orderBy('id')
    .compile(),
);

export function createElicitations(database: Database, logger: Logger): Elicitations {
  const { query, notifications, questions, now, timeIn } = database;

  /** Where none is pending, the time need not be read. */
  async function timed(rows: ElicitationRow[]): Promise<TimedQuestion[]> {
    const isAnyOpen = rows.some(({ status }) => status === 'pending');
    const time = isAnyOpen ? await timeIn(query) : 0;
    return rows.map((question) => withRemaining(question, time));
  }

  return {
    async open(given, limits) {
      const opening = await query
        .transaction()
        .execute((write) => openQuestions(database, write, given, limits))
        .catch((error: unknown) => {
          if (error instanceof NotOpened) return error.why;
          throw error;
        });
      if (opening.kind !== 'opened') return opening;
      const { rows, opened, time } = opening;
      const [first] = opened;
      if (first) notifications.announce(first);
      for (const question of opened) questions.opened(question);
      return { kind: 'opened', questions: rows.map((row) => withRemaining(row, time)) };
    },
    answer: createAnswer(database),
    settle: (ids, event, options) => settle(database, ids, event, options),
    async read(ids) {
      const rows: ElicitationRow[] = [];
      for (const chunk of chunks(ids)) {
        const found = await query.selectFrom('elicitations').selectAll().where('id', 'in', chunk).execute();
        rows.push(...found.map(toElicitation));
      }
      return timed(inOrder(ids, rows));
    },
    get: (id) => find(query, id),
    async ofCall({ turnId }, toolCallId) {
      const { rows } = await selectOfCall(query, { turnId, toolCallId });
      return timed(rows.map(toElicitation));
    },
    async refusalOf({ turnId }, server) {
      const row = await query
        .selectFrom('elicitations')
        .select('status')
        .where('turn_id', '=', turnId)
        .where('server', '=', server)
        .where('status', 'not in', ['pending', 'accept'])
        .where('place', '!=', sql.ref<string>('id'))
        .orderBy('settled_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? (row.status as Exclude<Outcome, 'accept'>) : null;
    },
    async leave({ turnId }, waiter) {
      const settled = await startingOver(query, async (write, toLock, needs) => {
        const locked = await lockQuestions(write, toLock);
        needs(await waitedForBy(write, turnId, waiter));
        const at = now();
        return writeSettled(write, await stopWaiting(write, locked, waiter, at), { at });
      });
      announceSettled(database, settled);
    },
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
    deleteContent: (endedBefore) => deleteContent(query, endedBefore),
    recorded: (elicitationId, responseId) => recordedAnswer(query, elicitationId, responseId),
  };
}

async function settle(
  database: Database,
  ids: string[],
  event: SettlingEvent,
  { except, audit }: Parameters<Elicitations['settle']>[2] = {},
): Promise<TimedQuestion[]> {
  const { query, now, timeIn } = database;
  if (ids.length === 0) return [];
  const { rows, time, settled } = await query.transaction().execute(async (write) => {
    const locked = await lockQuestions(write, ids);
    const time = locked.some(({ status }) => status === 'pending') ? await timeIn(write) : 0;
    const at = now();
    const isFor = ({ deadline }: ElicitationRow) => event.type !== 'deadline-passed' || deadline <= time;
    const rows = locked.map((row) => (isFor(row) ? advanced(row, event, at) : row));
    const changed = rows.filter((row, index) => row !== locked[index]);
    return { rows, time, settled: await writeSettled(write, changed, { at, except, audit }) };
  });
  announceSettled(database, settled);
  return inOrder(ids, rows).map((row) => withRemaining(row, time));
}

function withRemaining(question: ElicitationRow, time: number): TimedQuestion {
  const remainingMs = question.status === 'pending' ? Math.max(0, question.deadline - time) : 0;
  return { question, remainingMs };
}

function inOrder(ids: string[], rows: ElicitationRow[]): ElicitationRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
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
