/** Holds an API still between the start of a turn and the start of its delivery: its table is locked. */
import { sql } from 'kysely';
import { pino } from 'pino';
import { openPostgres } from '../../src/storage/postgres/open-postgres.ts';

export interface HeldTable {
  /** Ends whatever waits for it: the calls of a process that was killed are not carried out after its death. */
  endWaiting(): Promise<void>;
  release(): Promise<void>;
}

export async function holdDeliveries(databaseUrl: string): Promise<HeldTable> {
  const { query, close } = openPostgres(databaseUrl, pino({ level: 'silent' }));
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = query.transaction().execute(async (transaction) => {
    await sql`lock table slack_deliveries in access exclusive mode`.execute(transaction);
    held.resolve();
    await released.promise;
  });
  await Promise.race([held.promise, holding]);
  return {
    async endWaiting() {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(query);
    },
    async release() {
      released.resolve();
      await holding;
      await close();
    },
  };
}
