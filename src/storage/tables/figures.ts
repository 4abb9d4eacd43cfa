/** Reads what operators watch. Each query has an index that holds nothing but what it counts. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { Figures } from '../ports/figures.ts';

export async function readFigures({ query, now, timeIn }: Database): Promise<Figures> {
  const time = await timeIn(query);
  const [questions, waiting, live, outbox] = await Promise.all([
    query
      .selectFrom('elicitations')
      .select(({ fn }) => [
        'server',
        fn.countAll().as('open'),
        sql<number>`sum(case when deadline <= ${time} then 1 else 0 end)`.as('overdue'),
      ])
      .where('status', '=', 'pending')
      .groupBy('server')
      .execute(),
    query
      .selectFrom('elicitations')
      .select(({ fn }) => fn.count('turn_id').distinct().as('turns'))
      .where('status', '=', 'pending')
      .executeTakeFirst(),
    query
      .selectFrom('turns')
      .select(({ fn }) => ['status', fn.countAll().as('turns')])
      .where('ended_at', 'is', null)
      .groupBy('status')
      .execute(),
    query
      .selectFrom('outbox')
      .select(({ fn }) => [fn.countAll().as('pending'), fn.min('due_at').as('due')])
      .executeTakeFirst(),
  ]);
  const counted = questions.map(({ server, open, overdue }) => ({
    server,
    open: Number(open),
    overdue: Number(overdue),
  }));
  const withState = (state: string) => Number(live.find(({ status }) => status === state)?.turns ?? 0);
  const turnsThatWait = Number(waiting?.turns ?? 0);
  const due = outbox?.due ?? null;
  return {
    questions: counted.some(({ server }) => server === null)
      ? counted
      : [{ server: null, open: 0, overdue: 0 }, ...counted],
    turns: {
      starting: withState('starting'),
      waiting: turnsThatWait,
      running: Math.max(0, withState('running') - turnsThatWait),
    },
    outbox: {
      pending: Number(outbox?.pending ?? 0),
      overdueMs: due === null ? 0 : Math.max(0, now() - Number(due)),
    },
  };
}
