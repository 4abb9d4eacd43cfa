/**
 * The tables as the query builder sees them; the migrations create them. Portable columns only, so that SQLite and
 * PostgreSQL hold the same rows: text ids, epoch milliseconds and counters as integers, JSON in text, no enums, arrays or
 * bytes.
 */
import type { Selectable } from 'kysely';
import type { AccountTables } from './schema/account-tables.ts';
import type { QuestionTables } from './schema/question-tables.ts';
import type { SessionTables } from './schema/session-tables.ts';
import type { SlackSchema } from './schema/slack-tables.ts';
import type { TurnTables } from './schema/turn-tables.ts';

export interface Tables extends TurnTables, QuestionTables, AccountTables, SessionTables, SlackSchema {}

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

/** Reads a JSON column, which this program has written from a value of that type. */
export function fromJson<T>(text: string): T {
  return JSON.parse(text) as T;
}
