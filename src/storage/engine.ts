import type { Kysely } from 'kysely';
import type { Database } from './database.ts';
import type { SharedLock } from './locks.ts';
import type { Channel } from './notifications/notifications.ts';
import type { Tables } from './schema.ts';

/** What differs between the two databases. */
export interface Backend {
  kind: Database['kind'];
  query: Kysely<Tables>;
  /** Finds out what the way to the database lets through. Rejects where it cannot work. */
  checkConnections?(): Promise<void>;
  /** Brings the schema up to date. */
  migrate(): Promise<void>;
  /** For the log, and for the ends of turns. */
  channel: Channel | null;
  endingsChannel: Channel | null;
  lock: SharedLock;
  /** How often followers look for what no hint told them. */
  pollMs: number;
  /** Changes whenever somebody else has written, and then only. */
  version?(): Promise<number>;
  /** Epoch milliseconds; absent where the database has no clock but this machine's. */
  readClock?(query?: Kysely<Tables>): Promise<number>;
  /** How long the database has answered this process without an outage; absent where there are no outages. */
  answeringForMs?(): number;
  /** Rejects when what is written now would be lost although every statement succeeds. */
  checkFile?(): Promise<void>;
  close(): Promise<void>;
}
