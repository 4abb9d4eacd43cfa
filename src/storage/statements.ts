/**
 * Statements on the rows of one table that have certain values; null matches null. For anything else, such as joins and
 * locks, use the query builder.
 */
import type { ExpressionBuilder, Insertable, Kysely, Updateable } from 'kysely';
import { isOneOf } from './database.ts';
import type { Row, Tables } from './schema.ts';

type Table = keyof Tables;
type Column<T extends Table> = keyof Row<T> & string;
type AnyTables = Record<string, Record<string, unknown>>;

/** The query builder infers nothing for a table that is a type parameter. */
function untyped(query: Kysely<Tables>): Kysely<AnyTables> {
  return query as unknown as Kysely<AnyTables>;
}

function has(values: object) {
  return (row: ExpressionBuilder<AnyTables, string>) => row.and({ ...values });
}

function selectRows<T extends Table>(query: Kysely<Tables>, table: T, values: Partial<Row<T>>) {
  return untyped(query).selectFrom<string>(table).selectAll().where(has(values)).$castTo<Row<T>>();
}

export function findRow<T extends Table>(
  query: Kysely<Tables>,
  table: T,
  values: Partial<Row<T>>,
): Promise<Row<T> | undefined> {
  return selectRows(query, table, values).executeTakeFirst();
}

export function findRows<T extends Table>(
  query: Kysely<Tables>,
  table: T,
  values: Partial<Row<T>>,
  ...order: Column<T>[]
): Promise<Row<T>[]> {
  const rows = selectRows(query, table, values);
  return order.reduce((ordered, column) => ordered.orderBy(column), rows).execute();
}

/** Returns the number of new rows: rows with an existing key are left out. */
export async function insertNew<T extends Table>(
  query: Kysely<Tables>,
  table: T,
  rows: Insertable<Tables[T]> | Insertable<Tables[T]>[],
  key: Column<T>[],
): Promise<number> {
  const values = [rows].flat().map((row) => ({ ...(row as object) }));
  const { numInsertedOrUpdatedRows } = await untyped(query)
    .insertInto<string>(table)
    .values(values)
    .onConflict((same) => same.columns(key).doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows);
}

/** `key`: the columns of a unique key. */
export async function upsert<T extends Table, Key extends Column<T>>(
  query: Kysely<Tables>,
  table: T,
  key: Pick<Row<T>, Key>,
  others: Omit<Row<T>, Key>,
): Promise<void> {
  await untyped(query)
    .insertInto<string>(table)
    .values({ ...key, ...others })
    .onConflict((same) => same.columns(Object.keys(key)).doUpdateSet({ ...(others as object) }))
    .execute();
}

/** Returns the number of rows that have these values. */
export async function updateRows<T extends Table>(
  query: Kysely<Tables>,
  table: T,
  values: Partial<Row<T>>,
  changes: Updateable<Tables[T]>,
): Promise<number> {
  const changed = untyped(query)
    .updateTable<string>(table)
    .set({ ...(changes as object) });
  const { numUpdatedRows } = await changed.where(has(values)).executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Returns the number of deleted rows. */
export async function deleteRows<T extends Table>(
  query: Kysely<Tables>,
  table: T,
  values: Partial<Row<T>>,
): Promise<number> {
  const { numDeletedRows } = await untyped(query)
    .deleteFrom<string>(table)
    .where(has(values))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Deletes the rows whose column has one of these values, and returns their number. */
export async function deleteRowsOf<T extends Table>(
  query: Kysely<Tables>,
  table: T,
  column: Column<T>,
  values: string[],
): Promise<number> {
  const { numDeletedRows } = await untyped(query)
    .deleteFrom<string>(table)
    .where(isOneOf(query, column, values))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
