/** Prepared statements, kept by their text: preparing one takes SQLite longer than running it. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

export interface Prepared {
  statement: StatementSync;
  returnsRows: boolean;
}

/** Queries for lists have a text for each length. */
const mostKept = 500;

export interface Statements {
  prepare(sql: string): Prepared;
}

/** Safe with one caller at a time that reads all rows at once: a kept statement has one cursor. */
export function keepStatements(database: DatabaseSync): Statements {
  const kept = new Map<string, Prepared>();
  return {
    prepare(sql) {
      let found = kept.get(sql);
      if (found) {
        // The least recently used one is first.
        kept.delete(sql);
      } else {
        const statement = database.prepare(sql);
        found = { statement, returnsRows: statement.columns().length > 0 };
        const [oldest] = kept.keys();
        if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
      }
      kept.set(sql, found);
      return found;
    },
  };
}
