/** As a backup that is restored elsewhere: all rows of a PostgreSQL database at one moment, while others go on with it. */
import { Client } from 'pg';
import { query } from './setup/postgres-server.ts';

export async function copyDatabase(from: string, to: string): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const connect = async (url: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    stack.defer(() => client.end());
    return client;
  };
  const source = await connect(from);
  const target = await connect(to);
  // Rows come table by table, so that references are checked by the original only.
  await target.query('set session_replication_role = replica');
  await source.query('begin transaction isolation level repeatable read read only');
  for (const table of await tablesIn(source)) {
    const { rows } = await source.query<{ row: unknown }>(`select to_jsonb(t) as row from ${table} t`);
    await target.query(`delete from ${table}`);
    await target.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows.map(({ row }) => row)),
    ]);
  }
  await source.query('commit');
}

/** Every row of the named tables, in a stable order: to see that nothing was changed. */
export async function rowsOf(url: string, tables: string[]): Promise<unknown[]> {
  const all = tables.map((table) => query(url, `select to_jsonb(t) as row from ${table} t order by 1`));
  return (await Promise.all(all)).flat();
}

async function tablesIn(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'kysely_%'`,
  );
  return rows.map(({ name }) => name);
}
