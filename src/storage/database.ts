import { PostgresAdapter } from 'kysely';
import type { Kysely } from 'kysely';
import type { TurnEndings } from './notifications/turn-endings.ts';
import type { Notifications } from './notifications/notifications.ts';
import type { QuestionObserver } from './ports/elicitations.ts';
import type { OutboxObserver } from './ports/outbox.ts';
import type { Tables } from './schema.ts';

/** What the tables, the log and the notifications of this folder share. */
export interface Database {
  kind: 'sqlite' | 'postgres';
  query: Kysely<Tables>;
  notifications: Notifications;
  endings: TurnEndings;
  questions: QuestionObserver;
  /** The database's clock, carried forward by this process: for leases and times of rows. */
  now: () => number;
  /** The database's clock, read now: for deadlines. In a transaction, to be called after its locks are taken. */
  timeIn: (query: Kysely<Tables>) => Promise<number>;
  outbox: OutboxObserver;
  /** How long the database has answered this process without an outage. */
  answeringForMs: () => number;
}

/** For `$if`: whether rows that are read have to be locked. SQLite's transactions never interleave. */
export function needsLocks(query: Kysely<Tables>): boolean {
  return query.getExecutor().adapter instanceof PostgresAdapter;
}
