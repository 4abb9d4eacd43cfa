/**
 * Versions of the workflow code, in the order in which they became current, and the code itself. The version with the highest
 * rank is current. The rank is a counter, not a time, because processes' clocks differ; it is negative after a rollback from the
 * version.
 */
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import { isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { Row, Tables } from '../schema.ts';
import type { CodeKind } from '../schema/turn-tables.ts';
import { deleteRows, insertNew, upsert } from '../statements.ts';

/** In place of a build id: Temporal's own routing decides which version a turn starts with. */
export const routedByTemporal = '';

interface DeployedVersion {
  buildId: string;
  /** Epoch milliseconds: when it last became current. */
  since: number;
  /** An operator went back from it, and has not chosen it since. */
  isRolledBack: boolean;
}

/** `oldest`, `newest`: the contracts that it offers to workflow code (see workflows/contract.ts). */
export interface LivingProcess {
  id: string;
  oldest: number;
  newest: number;
  deployment: string;
  /** `start` is both. */
  kind: 'api' | 'worker' | 'start';
}

/** The current version, as part of another statement. */
export const currentBuildId = (deployment: string) =>
  sql<
    string | null
  >`(select build_id from deployed_versions where deployment = ${deployment} order by rank desc limit 1)`;

/** Which version of the workflow code new turns of a deployment start with, and which processes could run them. */
export type Versions = ReturnType<typeof createVersions>;

export function createVersions({ query, now }: Database) {
  const deployed = (db: Kysely<Tables>, deployment: string) =>
    db
      .selectFrom('deployed_versions')
      .select(['build_id as buildId', 'since', 'rank'])
      .where('deployment', '=', deployment)
      .orderBy('rank', 'desc')
      .execute();

  /** The highest first. Serialises transactions, so that ranks are unique. */
  async function lockedRanks(write: Transaction<Tables>, deployment: string) {
    if (isPostgres(write)) await sql`lock table deployed_versions in share row exclusive mode`.execute(write);
    return deployed(write, deployment);
  }

  async function nextRank(write: Transaction<Tables>, deployment: string): Promise<number> {
    const [highest] = await lockedRanks(write, deployment);
    return (highest?.rank ?? 0) + 1;
  }

  async function startingVersions(db: Kysely<Tables>, deployment: string): Promise<string[]> {
    const rows = await db
      .selectFrom('processes')
      .select('build_id as buildId')
      .distinct()
      .where('deployment', '=', deployment)
      .where('lease_until', '>', now())
      .where('build_id', 'not in', (current) =>
        current.selectFrom('deployed_versions').select('build_id').where('deployment', '=', deployment),
      )
      .execute();
    return rows.flatMap(({ buildId }) => buildId ?? []);
  }

  return {
    /** The version that new turns start with; null before the first worker. */
    async current(deployment: string): Promise<string | null> {
      const { rows } = await sql<{
        build_id: string | null;
      }>`select ${currentBuildId(deployment)} as build_id`.execute(query);
      return rows[0]?.build_id ?? null;
    },
    /** Every version that was ever current, the current one first. */
    async list(deployment: string): Promise<DeployedVersion[]> {
      const rows = await deployed(query, deployment);
      return rows.map(({ buildId, since, rank }) => ({ buildId, since, isRolledBack: rank < 0 }));
    },
    /** Makes a version current once: false when it has been current before, even if it is not now. */
    advance: (deployment: string, buildId: string): Promise<boolean> =>
      query.transaction().execute(async (write) => {
        const rank = await nextRank(write, deployment);
        const version = { deployment, build_id: buildId, rank, since: now() };
        return (await insertNew(write, 'deployed_versions', version, ['deployment', 'build_id'])) > 0;
      }),
    /** Makes a version current, by an operator's command or if there is only one worker. */
    async use(deployment: string, buildId: string): Promise<void> {
      await query.transaction().execute(async (write) => {
        const rank = await nextRank(write, deployment);
        const version = { deployment, build_id: buildId };
        await upsert(write, 'deployed_versions', version, { rank, since: now() });
      });
    },
    /**
     * Goes back from the current version to the one before it. The former comes last, so that going back again goes further
     * back. False, and nothing changes, if the two are others by now, or a version has started that is not current yet.
     */
    goBack: (deployment: string, from: string, to: string): Promise<boolean> =>
      query.transaction().execute(async (write) => {
        const ranks = await lockedRanks(write, deployment);
        const [current, before] = ranks.filter(({ rank }) => rank > 0);
        if (current?.buildId !== from || before?.buildId !== to) return false;
        if ((await startingVersions(write, deployment)).length > 0) return false;
        const set = (buildId: string, values: { rank: number } | { since: number }) =>
          write
            .updateTable('deployed_versions')
            .set(values)
            .where('deployment', '=', deployment)
            .where('build_id', '=', buildId)
            .execute();
        await set(from, { rank: Math.min(0, ...ranks.map(({ rank }) => rank)) - 1 });
        await set(to, { since: now() });
        return true;
      }),
    /** Turns that have not ended, by the version they started with; null: started by a release without versions. */
    async openTurns(): Promise<{ buildId: string | null; turns: number }[]> {
      const rows = await query
        .selectFrom('turns')
        .select(({ fn }) => ['build_id as buildId', fn.countAll<number>().as('turns')])
        .where('ended_at', 'is', null)
        .groupBy('build_id')
        .execute();
      return rows.map(({ buildId, turns }) => ({ buildId, turns: Number(turns) }));
    },
    /**
     * The versions that open turns started with. Reads an entry of the index for each version and for each turn without one,
     * however many turns wait: workers ask every few seconds.
     */
    async openVersions(): Promise<{ buildIds: string[]; unversioned: number }> {
      const { rows } = await sql<{ id: string }>`
        with recursive versions (id) as (
          select min(build_id) from turns where ended_at is null
          union all
          select (select min(build_id) from turns where ended_at is null and build_id > versions.id)
          from versions where versions.id is not null
        )
        select id from versions where id is not null`.execute(query);
      const { turns } = await query
        .selectFrom('turns')
        .select(({ fn }) => fn.countAll().as('turns'))
        .where('ended_at', 'is', null)
        .where('build_id', 'is', null)
        .executeTakeFirstOrThrow();
      return { buildIds: rows.map(({ id }) => id), unversioned: Number(turns) };
    },
    /** Turns that wait for people, by the version they started with. */
    async waitingTurns(): Promise<{ buildId: string | null; turns: number; since: number }[]> {
      const rows = await query
        .selectFrom('elicitations')
        .innerJoin('turns', 'turns.turn_id', 'elicitations.turn_id')
        .select(({ fn }) => [
          'build_id as buildId',
          fn.count<number>('turns.turn_id').distinct().as('turns'),
          fn.min('elicitations.created_at').as('since'),
        ])
        .where('elicitations.status', '=', 'pending')
        .where('turns.ended_at', 'is', null)
        .groupBy('build_id')
        .execute();
      return rows.map(({ buildId, turns, since }) => ({ buildId, turns: Number(turns), since }));
    },
    /** The process is alive for another `leaseMs`, by the database's clock. `buildId`: of the version that its worker makes current. */
    async renewLease(
      { id, deployment, kind, oldest, newest, buildId = null }: LivingProcess & { buildId?: string | null },
      leaseMs: number,
    ): Promise<void> {
      const at = now();
      const leaseUntil = at + leaseMs;
      await query
        .insertInto('processes')
        .values({
          id,
          deployment,
          kind,
          oldest_contract: oldest,
          newest_contract: newest,
          build_id: buildId,
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
    async endLease(id: string): Promise<void> {
      await deleteRows(query, 'processes', { id });
    },
    /** Processes with a current lease. */
    async living(deployment: string): Promise<LivingProcess[]> {
      return query
        .selectFrom('processes')
        .select(['id', 'deployment', 'kind', 'oldest_contract as oldest', 'newest_contract as newest'])
        .where('deployment', '=', deployment)
        .where('lease_until', '>', now())
        .execute();
    },
    /** The versions that living workers make current and that have never been current. */
    starting: (deployment: string): Promise<string[]> => startingVersions(query, deployment),
  };
}

export type KeptCode = Pick<Row<'workflow_code'>, 'id' | 'kind' | 'needs'>;

/** Workflow code, kept as long as workflows that began with it may continue. */
export function createWorkflowCode({ query, now }: Database) {
  return {
    /** Stores it, or notes that it is in use. `sealed`: the encrypted code. */
    async keep({ id, kind, needs, sealed }: KeptCode & { sealed: string }): Promise<void> {
      const at = now();
      await query
        .insertInto('workflow_code')
        .values({ id, kind, needs, sealed, created_at: at, used_at: at })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ sealed, used_at: at }))
        .execute();
    },
    /** Notes that these are in use. */
    async touch(ids: string[]): Promise<void> {
      if (ids.length === 0) return;
      await query.updateTable('workflow_code').set({ used_at: now() }).where('id', 'in', ids).execute();
    },
    async get(id: string): Promise<(KeptCode & { sealed: string }) | null> {
      const row = await query
        .selectFrom('workflow_code')
        .select(['id', 'kind', 'needs', 'sealed'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row ?? null;
    },
    /** Newest first; `usedAt` in epoch milliseconds. */
    async list(kind: CodeKind): Promise<(KeptCode & { usedAt: number })[]> {
      const rows = await query
        .selectFrom('workflow_code')
        .select(['id', 'kind', 'needs', 'used_at'])
        .where('kind', '=', kind)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute();
      return rows.map(({ used_at: usedAt, ...code }) => ({ ...code, usedAt }));
    },
    /** Deletes it; false, and nothing changes, if it was used since `usedBefore` (epoch milliseconds). */
    async drop(id: string, usedBefore: number): Promise<boolean> {
      const result = await query
        .deleteFrom('workflow_code')
        .where('id', '=', id)
        .where('used_at', '<', usedBefore)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}
