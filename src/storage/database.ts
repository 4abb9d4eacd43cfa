import type { Kysely, CompiledQuery, DialectAdapter, QueryResult, RawBuilder, SqlBool } from 'kysely';
import { PostgresAdapter, sql } from 'kysely';
import type { SharedLock } from './locks.ts';
import type { Channel, Notifications } from './notifications/notifications.ts';
import type { Tables } from './schema.ts';
import type { ElicitationRow, Mark } from './schema/question-tables.ts';
import type { TurnRef } from '../turn/turn.ts';

export interface TurnEndings {
  announce(turn: TurnRef): void;
  /** True as soon as the turn is ending or has ended; false when `signal` aborts first. */
  when(turn: TurnRef, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** Gets, after each commit, the marks that this process has to deliver at once. Must not throw. */
export type OutboxObserver = (marks: Mark[]) => void;

/** Is notified of every question once, after the commit, in the process that opens or settles it. */
export interface QuestionObserver {
  opened(question: ElicitationRow): void;
  settled(question: ElicitationRow): void;
}

/** What differs between the two databases. */
export interface Backend {
  query: Kysely<Tables>;
  /** Checks what the connection supports, for example behind a pooler. Rejects if it cannot work. */
  checkConnections?(): Promise<void>;
  /** After `checkConnections`: a pooler answers, and there is no direct address. */
  isPooled?(): boolean;
  migrate(): Promise<void>;
  /** For the log, and for endings of turns. */
  channel: Channel | null;
  endingsChannel: Channel | null;
  lock: SharedLock;
  /** How often followers poll for changes without a hint. */
  pollMs: number;
  /** Changes whenever another connection has written, and only then. */
  version?(): Promise<number>;
  /** Epoch milliseconds; absent if the database has no clock but this machine's. */
  readClock?(query?: Kysely<Tables>): Promise<number>;
  /** How long the database has responded to this process without an outage; absent if there are no outages. */
  answeringForMs?(): number;
  /** Rejects if writes would be lost although every statement succeeds. */
  checkFile?(): Promise<void>;
  close(): Promise<void>;
}

/** What the tables, the log and the notifications share. */
export interface Database {
  query: Kysely<Tables>;
  notifications: Notifications;
  endings: TurnEndings;
  questions: QuestionObserver;
  /** The database's clock, carried forward by this process: for leases and times of rows. */
  now: () => number;
  /** The database's clock, read now: for deadlines. In a transaction, call it after the locks are taken. */
  timeIn: (query: Kysely<Tables>) => Promise<number>;
  outbox: OutboxObserver;
  /** How long the database has responded to this process without an outage. */
  answeringForMs: () => number;
}

/** PostgreSQL needs locks on rows that are read; SQLite's transactions never run concurrently. */
export function isPostgres(query: Kysely<Tables>): boolean {
  return query.getExecutor().adapter instanceof PostgresAdapter;
}

/** For `where`: the column has one of these values. A list is one parameter, so it may be empty or long. */
export function isOneOf(
  query: Kysely<Tables>,
  column: string,
  values: string[] | number[],
): RawBuilder<SqlBool> {
  return isPostgres(query)
    ? sql`${sql.ref(column)} = any(${values})`
    : sql`${sql.ref(column)} in (select value from json_each(${values}))`;
}

/** In place of a parameter; Kysely passes it through. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * A statement that is built once and run often, for the hot path of a turn: Kysely takes longer to build it than the database
 * to run it. `build` is called once for each database, with placeholders instead of the values of the first call: it must pass
 * them into the statement unchanged, and must not branch on them. The result runs the statement, inside or outside of a
 * transaction.
 */
export function compileOnce<Given extends object, Row>(
  build: (query: Kysely<Tables>, given: Given) => CompiledQuery<Row>,
): (query: Kysely<Tables>, given: Given) => Promise<QueryResult<Row>> {
  const built = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (query, given) => {
    const { adapter } = query.getExecutor();
    const statement = built.get(adapter) ?? build(query, placeholdersFor(given));
    built.set(adapter, statement);
    const parameters = statement.parameters.map((value) =>
      value instanceof Placeholder ? given[value.name as keyof Given] : value,
    );
    return query.executeQuery({ ...statement, parameters });
  };
}

function placeholdersFor<Given extends object>(given: Given): Given {
  return new Proxy(given, { get: (_, name) => new Placeholder(name) });
}
