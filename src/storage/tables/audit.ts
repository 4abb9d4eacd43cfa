import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { toColumns } from '../columns.ts';
import { compileOnce } from '../database.ts';
import type { Database } from '../database.ts';
import type { Row, Tables } from '../schema.ts';
import type { AuditEntry } from '../schema/question-tables.ts';

const insert = compileOnce((query, row: Row<'audit'>) =>
  query
    .insertInto('audit')
    .values({ ...row })
    .compile(),
);

export async function insertAudit(
  query: Kysely<Tables>,
  { elicitationId, turnId, at, tenant, actor, action, detail, address }: AuditEntry,
): Promise<void> {
  const entry = { id: randomUUID(), elicitationId, at, tenant, actor, action, detail, address };
  await insert(query, { ...toColumns(entry), turn_id: turnId ?? null, position: null });
}

export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ query }: Database) {
  return {
    record: (entry: AuditEntry): Promise<void> => insertAudit(query, entry),
    /** Oldest first. */
    async ofElicitation(elicitationId: string): Promise<AuditEntry[]> {
      const rows = await query
        .selectFrom('audit')
        .select(['at', 'tenant', 'actor', 'action', 'detail', 'address'])
        .where('elicitation_id', '=', elicitationId)
        .orderBy('at')
        .execute();
      return rows.map((row) => ({ elicitationId, ...row }));
    },
    /** About the turn or one of its questions, oldest first. */
    async ofTurn(turnId: string): Promise<AuditEntry[]> {
      const questions = query.selectFrom('elicitations').select('id').where('turn_id', '=', turnId);
      // Two statements, because PostgreSQL uses no index for a condition with `or`.
      const [ofItself, ofQuestions] = await Promise.all([
        query.selectFrom('audit').selectAll().where('turn_id', '=', turnId).execute(),
        query
          .selectFrom('audit')
          .selectAll()
          .where('turn_id', 'is', null)
          .where('elicitation_id', 'in', questions)
          .execute(),
      ]);
      return [...ofItself, ...ofQuestions]
        .map(({ id: _, position: __, elicitation_id: elicitationId, turn_id: about, ...entry }) => ({
          ...entry,
          elicitationId,
          ...(about !== null && { turnId: about }),
        }))
        .toSorted((one, other) => one.at - other.at);
    },
  };
}
