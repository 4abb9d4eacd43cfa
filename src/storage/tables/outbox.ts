/**
 * What Temporal and servers do not know yet. A mark is written in the transaction that decides it, under an id made of its
 * subject, so that it is unique. `due_at` is the lease of the process that delivers it.
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import type { ElicitationRow, Mark } from '../schema/question-tables.ts';
import { turnWorkflowId } from '../../turn/turn.ts';
import { compileOnce, isOneOf, isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import { chunks } from '../log/append.ts';
import { toColumns } from '../columns.ts';
import type { Row, Tables } from '../schema.ts';
import { insertNew } from '../statements.ts';

type Write = Transaction<Tables>;

/**
 * The number of marks, over all processes, that are delivered at once by the process that has committed them; the loop
 * delivers the rest. Slightly more if transactions commit at the same moment.
 */
const mostAtOnce = 32;
/** After this time other processes deliver what the committing process did not. */
const firstLeaseMs = 5_000;
/** How long the loop leaves the marks of a burst, while its answers are still being recorded. */
const restAfterMs = 1_000;

export function createOutbox({ query, now }: Database) {
  return {
    /** Due marks, longest due first, leased for `leaseMs`. An erasure leaves thousands to `forget`: others need not wait for them. */
    async claim(limit: number, leaseMs: number, which?: 'forget' | 'others'): Promise<Mark[]> {
      const at = now();
      const due = query
        .selectFrom('outbox')
        .select('id')
        .where('due_at', '<=', at)
        .$if(which !== undefined, (some) => some.where('kind', which === 'forget' ? '=' : '!=', 'forget'));
      // Usually nothing is due, and a read is cheaper than an update.
      if (!(await due.limit(1).executeTakeFirst())) return [];
      const next = due
        .orderBy('due_at')
        .limit(limit)
        .$if(isPostgres(query), (mine) => mine.forUpdate().skipLocked());
      const rows = await query
        .updateTable('outbox')
        // Those to forget take no place of marks that are delivered at once.
        .set({ due_at: at + leaseMs, is_leased: sql<number>`case when kind = 'forget' then 0 else 1 end` })
        .where('id', 'in', next)
        .returningAll()
        .execute();
      return rows.map(toMark);
    },
    /** They have been delivered, or never can be. */
    async done(ids: string[]): Promise<void> {
      await query
        .deleteFrom('outbox')
        .where(isOneOf(query, 'id', ids))
        .execute();
    },
    /** Due again after a delay that doubles with each attempt, from one second to ten minutes. */
    async failed(ids: string[]): Promise<void> {
      const at = now();
      const delayMs = sql`case when failures < 10 then 1000 * (1 << failures) else 600000 end`;
      await query
        .updateTable('outbox')
        .set((row) => ({
          due_at: sql<number>`cast(${at} as bigint) + ${delayMs}`,
          is_leased: 0,
          failures: row('failures', '+', 1),
        }))
        .where(isOneOf(query, 'id', ids))
        .execute();
    },
    /**
     * For a command, which delivers nothing itself: its marks become due at once, and reports of the questions that it has
     * settled are added.
     */
    async handOver(marks: Mark[], settled: ElicitationRow[]): Promise<void> {
      const at = now();
      const ids = marks.map(({ id }) => id);
      await query
        .updateTable('outbox')
        .set({ due_at: at, is_leased: 0 })
        .where(isOneOf(query, 'id', ids))
        .execute();
      const reports = settled.map(({ id, tenant, conversation, turnId }) => ({
        ...toColumns({ id: `report/${id}`, elicitationId: id, tenant, conversation, turnId, dueAt: at }),
        kind: 'report' as const,
        workflow_id: null,
        is_leased: 0,
        failures: 0,
      }));
      for (const chunk of chunks(reports)) await insertNew(query, 'outbox', chunk, ['id']);
    },
  };
}

interface SettledMarks {
  elicitationIds: string[];
  at: number;
  leaseUntil: number;
  restUntil: number;
  except: string;
}

const insertSettledMarks = compileOnce((write, marks: SettledMarks) => {
  const { elicitationIds, at, leaseUntil, restUntil, except } = marks;
  return sql<Row<'outbox'>>`
    insert into outbox (id, kind, workflow_id, elicitation_id, tenant, conversation, turn_id, due_at, is_leased, failures)
    select 'settled/' || elicitation_id || '/' || workflow_id, 'settled', workflow_id, elicitation_id,
      tenant, conversation, turn_id,
      cast(case when place <= ${sql.lit(mostAtOnce)} then ${leaseUntil} else ${restUntil} end as bigint),
      case when place <= ${sql.lit(mostAtOnce)} then 1 else 0 end, 0
    from (
      select waiters.*, elicitations.tenant, elicitations.conversation, elicitations.turn_id,
        ${leased(at)} + row_number() over (order by elicitation_id, workflow_id) as place
      from (
        select distinct elicitation_id, workflow_id from question_waiters
        where ${isOneOf(write, 'elicitation_id', elicitationIds)}
          and workflow_id is not null and workflow_id != ${except}
      ) as waiters
      join elicitations on elicitations.id = waiters.elicitation_id
    ) as numbered
    where true
    on conflict (id) do nothing
    returning *`.compile(write);
});

/** For each workflow that waits for these questions. Returns the marks that this process has to deliver. */
export async function addSettledMarks(
  write: Write,
  elicitationIds: string[],
  at: number,
  except: string | undefined,
): Promise<Mark[]> {
  const { rows } = await insertSettledMarks(write, {
    elicitationIds,
    at,
    leaseUntil: at + firstLeaseMs,
    restUntil: at + restAfterMs,
    except: except ?? '',
  });
  return rows.filter(isOurs).map(toMark);
}

type TurnMark = Pick<Row<'outbox'>, 'id' | 'kind' | 'workflow_id' | 'tenant' | 'conversation' | 'turn_id'> & {
  at: number;
  leaseUntil: number;
};

const insertTurnMark = compileOnce((write, mark: TurnMark) => {
  const { id, kind, workflow_id, tenant, conversation, turn_id, at, leaseUntil } = mark;
  return sql<Row<'outbox'>>`
    insert into outbox (id, kind, workflow_id, tenant, conversation, turn_id, due_at, is_leased, failures)
    select ${id}, ${kind}, ${workflow_id}, ${tenant}, ${conversation}, ${turn_id},
      cast(case when isFree then ${leaseUntil} else ${at} end as bigint), case when isFree then 1 else 0 end, 0
    from (select ${leased(at)} < ${sql.lit(mostAtOnce)} as isFree) as places
    where true
    on conflict (id) do nothing
    returning *`.compile(write);
});

/** `cancel`: the turn's workflow. `abandon`: what servers keep open for its calls. */
export async function addTurnMark(
  write: Write,
  kind: 'cancel' | 'abandon',
  turn: TurnRef,
  at: number,
): Promise<Mark[]> {
  const { tenant, conversation, turnId } = turn;
  const { rows } = await insertTurnMark(write, {
    id: `${kind}/${turnId}`,
    kind,
    workflow_id: kind === 'cancel' ? turnWorkflowId(turn) : null,
    tenant,
    conversation,
    turn_id: turnId,
    at,
    leaseUntil: at + firstLeaseMs,
  });
  return rows.filter(isOurs).map(toMark);
}

/** For the histories of these workflows. The loop delivers the marks. */
export async function addForgetMarks(
  write: Write,
  workflows: { workflowId: string; turn: TurnRef }[],
  at: number,
): Promise<void> {
  const rows = workflows.map(({ workflowId, turn: { tenant, conversation, turnId } }) => ({
    ...toColumns({ id: `forget/${workflowId}`, workflowId, tenant, conversation, turnId, dueAt: at }),
    kind: 'forget' as const,
    elicitation_id: null,
    is_leased: 0,
    failures: 0,
  }));
  for (const chunk of chunks(rows)) await insertNew(write, 'outbox', chunk, ['id']);
}

function leased(at: number) {
  return sql<number>`(select count(*) from (
    select 1 from outbox where is_leased = 1 and due_at > ${at} limit ${sql.lit(mostAtOnce)}
  ) as leased)`;
}

function isOurs({ is_leased: isLeased }: Row<'outbox'>): boolean {
  return isLeased === 1;
}

function toMark(row: Row<'outbox'>): Mark {
  const { id, kind, tenant, conversation, turn_id: turnId } = row;
  const turn = { tenant, conversation, turnId };
  const workflowId = row.workflow_id ?? '';
  switch (kind) {
    case 'settled':
      return { id, kind, workflowId, elicitationId: row.elicitation_id ?? '', turn };
    case 'cancel':
      return { id, kind, workflowId, turn };
    case 'forget':
      return { id, kind, workflowId, turn, failures: row.failures };
    case 'abandon':
      return { id, kind, turn };
    case 'report':
      return { id, kind, elicitationId: row.elicitation_id ?? '', turn };
    default:
      return kind satisfies never;
  }
}
