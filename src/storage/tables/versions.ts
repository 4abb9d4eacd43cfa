/**
 * Versions of the workflow code, in the order in which they became current: the one with the highest rank is current. The
 * order is a counter and not a time, because processes' clocks differ.
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Database } from '../database.ts';
import type { Versions } from '../ports/versions.ts';
import type { Tables } from '../schema.ts';

/** The current version, as part of another statement. */
export const currentBuildId = (deployment: string) =>
  sql<
    string | null
  >`(select build_id from deployed_versions where deployment = ${deployment} order by rank desc limit 1)`;

export function createVersions({ kind, query, now }: Database): Versions {
  /** One transaction after the other: two versions never get the same rank. */
  async function nextRank(write: Transaction<Tables>, deployment: string): Promise<number> {
    if (kind === 'postgres')
      await sql`lock table deployed_versions in share row exclusive mode`.execute(write);
    const { rank } = await write
      .selectFrom('deployed_versions')
      .select(({ fn }) => fn.max('rank').as('rank'))
      .where('deployment', '=', deployment)
      .executeTakeFirstOrThrow();
    return (rank ?? 0) + 1;
  }

  return {
    async current(deployment) {
      const { rows } = await sql<{
        build_id: string | null;
      }>`select ${currentBuildId(deployment)} as build_id`.execute(query);
      return rows[0]?.build_id ?? null;
    },
    async list(deployment) {
      return query
        .selectFrom('deployed_versions')
        .select(['build_id as buildId', 'since'])
        .where('deployment', '=', deployment)
        .orderBy('rank', 'desc')
        .execute();
    },
    advance: (deployment, buildId) =>
      query.transaction().execute(async (write) => {
        const rank = await nextRank(write, deployment);
        const inserted = await write
          .insertInto('deployed_versions')
          .values({ deployment, build_id: buildId, rank, since: now() })
          .onConflict((conflict) => conflict.columns(['deployment', 'build_id']).doNothing())
          .executeTakeFirst();
        return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
    async use(deployment, buildId) {
      await query.transaction().execute(async (write) => {
        const rank = await nextRank(write, deployment);
        const since = now();
        await write
          .insertInto('deployed_versions')
          .values({ deployment, build_id: buildId, rank, since })
          .onConflict((conflict) => conflict.columns(['deployment', 'build_id']).doUpdateSet({ rank, since }))
          .execute();
      });
    },
    async openTurns() {
      const rows = await query
        .selectFrom('turns')
        .select(({ fn }) => ['build_id as buildId', fn.countAll<number>().as('turns')])
        .where('ended_at', 'is', null)
        .groupBy('build_id')
        .execute();
      return rows.map(({ buildId, turns }) => ({ buildId, turns: Number(turns) }));
    },
    async renewLease({ id, deployment, kind: process, oldest, newest }, leaseMs) {
      const at = now();
      const leaseUntil = at + leaseMs;
      await query
        .insertInto('processes')
        .values({
          id,
          deployment,
          kind: process,
          oldest_contract: oldest,
          newest_contract: newest,
          lease_until: leaseUntil,
        })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ lease_until: leaseUntil }))
        .execute();
      // Rows of processes that were killed.
      await query
        .deleteFrom('processes')
        .where('lease_until', '<', at - leaseMs)
        .execute();
    },
    async endLease(id) {
      await query.deleteFrom('processes').where('id', '=', id).execute();
    },
    async living(deployment) {
      return query
        .selectFrom('processes')
        .select(['id', 'deployment', 'kind', 'oldest_contract as oldest', 'newest_contract as newest'])
        .where('deployment', '=', deployment)
        .where('lease_until', '>', now())
        .execute();
    },
  };
}
