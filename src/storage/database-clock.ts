import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from './database.ts';

/** Epoch milliseconds by the database's own clock, which all processes share. */
export function databaseNow(kind: Database['kind']): RawBuilder<number> {
  return kind === 'postgres'
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
