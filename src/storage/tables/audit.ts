import { randomUUID } from 'node:crypto';
import type { Audit } from '../ports/audit.ts';
import type { Database } from '../database.ts';

export function createAudit({ query }: Database): Audit {
  return {
    async record({ elicitationId, ...entry }) {
      await query
        .insertInto('audit')
        .values({ id: randomUUID(), elicitation_id: elicitationId, ...entry })
        .execute();
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
