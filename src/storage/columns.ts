/**
 * Rows as the program uses them, and the columns in which they are stored: `isOpen` and `is_open`, which is 0 or 1. `user` is
 * `user_id`, because PostgreSQL reserves the word.
 */
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

type ColumnOf<Field extends string> = Field extends 'user' ? 'user_id' : SnakeCase<Field>;

/** The columns of such a row. For rows without optional fields. */
export type Columns<Row> = {
  [Field in keyof Row & string as ColumnOf<Field>]: Row[Field] extends boolean ? number : Row[Field];
};

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type FieldOf<Column extends string> = Column extends 'user_id' ? 'user' : CamelCase<Column>;

/** The row in these columns. */
export type Fields<Stored> = {
  [Column in keyof Stored & string as FieldOf<Column>]: Column extends `is_${string}`
    ? boolean
    : Stored[Column];
};

/** Of each name once: rows are read and written in every step of a turn. */
function remembered(rename: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const renamed = known.get(name) ?? rename(name);
    known.set(name, renamed);
    return renamed;
  };
}

const columnOf = remembered((field) =>
  field === 'user' ? 'user_id' : field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);
const fieldOf = remembered((column) =>
  column === 'user_id' ? 'user' : column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
);

export function toColumns<Row extends object>(row: Row): Columns<Row> {
  const entries = Object.entries(row).map(([field, value]: [string, unknown]) => [
    columnOf(field),
    typeof value === 'boolean' ? Number(value) : value,
  ]);
  return Object.fromEntries(entries) as Columns<Row>;
}

export function fromColumns<Stored extends object>(stored: Stored): Fields<Stored> {
  const entries = Object.entries(stored).map(([column, value]: [string, unknown]) => [
    fieldOf(column),
    column.startsWith('is_') ? value === 1 : value,
  ]);
  return Object.fromEntries(entries) as Fields<Stored>;
}
