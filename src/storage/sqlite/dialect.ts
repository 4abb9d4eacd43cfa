/**
 * Kysely on `node:sqlite`. Writes go through one connection, one at a time (writer.ts). Reads have another connection, which
 * sees what is committed and never waits.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { keepStatements, createSqliteWriter, whenNotBusy } from './writer.ts';
import type { Statements, SqliteWriter } from './writer.ts';

/** `reader` is `writer` if a second connection would open another database, as in memory. */
export interface SqliteConnections {
  writer: DatabaseSync;
  reader: DatabaseSync;
}

/** The same object twice if both connections are one. */
interface ConnectionStatements {
  writer: Statements;
  reader: Statements;
}

export function sqliteDialect(connections: SqliteConnections): Dialect {
  return {
    createDriver: () => new TurnTakingDriver(connections),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

class TurnTakingDriver implements Driver {
  readonly #connections: SqliteConnections;
  readonly #statements: ConnectionStatements;
  readonly #turns: SqliteWriter;

  constructor(connections: SqliteConnections) {
    const { writer, reader } = connections;
    this.#connections = connections;
    const written = keepStatements(writer);
    this.#statements = { writer: written, reader: reader === writer ? written : keepStatements(reader) };
    this.#turns = createSqliteWriter(writer, written);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#connections.writer, this.#statements, this.#turns);
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await this.#turns.enter();
    connection.isWriting = true;
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    connection.isWriting = false;
    await this.#turns.keep();
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    // A failed commit has rolled everything back.
    if (!connection.isWriting) return;
    connection.isWriting = false;
    await this.#turns.discard();
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    const { reader, writer } = this.#connections;
    await this.#turns.close();
    if (reader !== writer) reader.close();
  }
}

/** A connection for Kysely: one query, or one transaction. */
class SqliteConnection implements DatabaseConnection {
  /** Inside a transaction. */
  isWriting = false;
  readonly #database: DatabaseSync;
  readonly #statements: ConnectionStatements;
  readonly #turns: SqliteWriter;

  constructor(database: DatabaseSync, statements: ConnectionStatements, turns: SqliteWriter) {
    this.#database = database;
    this.#statements = statements;
    this.#turns = turns;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { reader, writer } = this.#statements;
    if (this.isWriting) {
      if (!this.#database.isTransaction) throw new Error('the transaction was rolled back by SQLite');
      return run(writer, query);
    }
    if (isRead(query) && reader !== writer) return whenNotBusy(() => run<R>(reader, query));
    switch (query.query.kind) {
      case 'InsertQueryNode':
      case 'UpdateQueryNode':
      case 'DeleteQueryNode':
        return this.#write(query);
      default:
        return this.#turns.alone(() => run<R>(writer, query));
    }
  }

  async #write<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.#turns.enter();
    let result: QueryResult<R>;
    try {
      result = run(this.#statements.writer, query);
    } catch (error) {
      await this.#turns.discard();
      throw error;
    }
    await this.#turns.keep();
    return result;
  }

  streamQuery(): never {
    throw new Error('nothing is read as a stream');
  }
}

/** Recognises statements that were written as text. Not `pragma`, which may be about the writer's connection. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return (
    query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && sql.trimStart().startsWith('select '))
  );
}

function run<R>(statements: Statements, { sql, parameters }: CompiledQuery): QueryResult<R> {
  const { statement, returnsRows } = statements.prepare(sql);
  const values = parameters.map((value) =>
    Array.isArray(value) ? JSON.stringify(value) : value,
  ) as SQLInputValue[];
  if (returnsRows) return { rows: statement.all(...values) as R[] };
  const { changes, lastInsertRowid } = statement.run(...values);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  /** The writer serialises transactions. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
