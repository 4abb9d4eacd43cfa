/**
 * Statements that are built once and run often: to build one takes Kysely longer than the database takes to run it. For
 * those on the way of every turn; they are written like any other.
 */
import type { CompiledQuery, DialectAdapter, Kysely, QueryResult } from 'kysely';
import type { Tables } from './schema.ts';

/** Stands for a value that is given each time. Kysely hands values on as they are. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * `build` is called once for each database, and not with values: it has to put what it is given into the statement as it is,
 * decide nothing by it, and name what it uses (there are no keys to go through). What comes back runs the statement,
 * inside or outside of a transaction.
 */
export function compileOnce<Given extends object, Row>(
  build: (query: Kysely<Tables>, given: Given) => CompiledQuery<Row>,
): (query: Kysely<Tables>, given: Given) => Promise<QueryResult<Row>> {
  const built = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (query, given) => {
    const { adapter } = query.getExecutor();
    const statement = built.get(adapter) ?? build(query, placeholders<Given>());
    built.set(adapter, statement);
    const parameters = statement.parameters.map((value) =>
      value instanceof Placeholder ? given[value.name as keyof Given] : value,
    );
    return query.executeQuery({ ...statement, parameters });
  };
}

function placeholders<Given extends object>(): Given {
  return new Proxy({} as Given, { get: (_, name) => new Placeholder(name) });
}
