import type { Database } from '../database.ts';
import type { LearnedEras } from '../ports/learned-eras.ts';

export function createLearnedEras({ query, now }: Pick<Database, 'query' | 'now'>): LearnedEras {
  return {
    list: () =>
      query
        .selectFrom('learned_eras')
        .select(['server', 'tool', 'era', 'identity'])
        .orderBy('learned_at', 'desc')
        .execute(),
    async learn({ server, tool, era, identity }) {
      const learned = { era, identity, learned_at: now() };
      await query
        .insertInto('learned_eras')
        .values({ server, tool, ...learned })
        .onConflict((same) => same.columns(['server', 'tool']).doUpdateSet(learned))
        .execute();
    },
    async forget(server) {
      await query.deleteFrom('learned_eras').where('server', '=', server).execute();
    },
  };
}
