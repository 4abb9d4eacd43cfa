import { Client } from 'pg';
import { expect, test } from 'vitest';
import { postgresUrl } from './postgres.ts';

test('every test database is its own, on a server of a version we support', async () => {
  const urls = await Promise.all([postgresUrl(), postgresUrl()]);
  expect(new Set(urls).size).toBe(2);
  for (const connectionString of urls) {
    const client = new Client({ connectionString });
    await client.connect();
    await client.query('CREATE TABLE only_here (id text)');
    const { rows } = await client.query<{ version: string }>(
      "SELECT current_setting('server_version_num') AS version",
    );
    expect(Number(rows[0]?.version)).toBeGreaterThanOrEqual(140_000);
    await client.end();
  }
});
