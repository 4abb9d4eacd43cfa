import type { Database } from '../database.ts';
import type { EndedSessions } from '../ports/ended-sessions.ts';

export function createEndedSessions({ query, now }: Database): EndedSessions {
  return {
    async add({ idHash, expiresAt }) {
      await query.deleteFrom('ended_sessions').where('expires_at', '<=', now()).execute();
      await query
        .insertInto('ended_sessions')
        .values({ id_hash: idHash, expires_at: expiresAt })
        .onConflict((same) => same.column('id_hash').doNothing())
        .execute();
    },
    async has(idHash) {
      const row = await query
        .selectFrom('ended_sessions')
        .select('id_hash')
        .where('id_hash', '=', idHash)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
