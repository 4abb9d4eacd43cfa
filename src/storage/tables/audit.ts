import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Audit } from '../ports/audit.ts';
import { compileOnce } from '../compile-once.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

const insert = compileOnce((query, row: Selectable<Tables['audit']>) => {
  const { id, at, tenant, elicitation_id, actor, action, detail, address } = row;
  const values = { id, at, tenant, elicitation_id, actor, action, detail, address };
  return query.insertInto('audit').values(values).compile();
});

export function createAudit({ query }: Database): Audit {
  return {
    async record({ elicitationId, ...entry }) {
      await insert(query, { id: randomUUID(), elicitation_id: elicitationId, ...entry });
    },
    async ofElicitation(elicitationId) {
      const rows = await query
        .selectFrom('audit')
        .select(['at', 'tenant', 'actor', 'action', 'detail', 'address'])
        .where('elicitation_id', '=', elicitationId)
        .orderBy('at')
        .execute();
      return rows.map((row) => ({ elicitationId, ...row }));
    },
  };
}
