/** Secrets that are given as files are read again when they change. */
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import { postgresUrl } from '../../postgres.ts';
import { testFolder } from '../../test-folder.ts';

const keys = { INTERLUDE_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` };

/** `more`: members of the agents file. */
function load(env: Record<string, string>, more = '') {
  const folder = testFolder();
  const agents = path.join(folder, 'agents.yaml');
  writeFileSync(
    agents,
    `providers: { scripted: { script: ./script.ts } }\nagents:\n  assistant: { model: scripted }\n${more}`,
  );
  return loadConfig({ INTERLUDE_CONFIG: agents, INTERLUDE_DATA: folder, ...keys, ...env }, folder);
}

function secretFile(content: string) {
  const file = path.join(testFolder(), 'secret');
  writeFileSync(file, content);
  return file;
}

const urlOf = ({ database }: ReturnType<typeof load>) =>
  database.kind === 'postgres' ? database.currentUrl?.() : undefined;

test('a changed file gives the new value, and a broken one the last', () => {
  const file = secretFile('postgres://u:first@host/db\n');
  const config = load({ DATABASE_URL_FILE: file });
  expect(urlOf(config)).toBe('postgres://u:first@host/db');
  writeFileSync(file, 'postgres://u:second-one@host/db\n');
  expect(urlOf(config)).toBe('postgres://u:second-one@host/db');
  writeFileSync(file, '');
  expect(urlOf(config)).toBe('postgres://u:second-one@host/db');
  rmSync(file);
  expect(urlOf(config)).toBe('postgres://u:second-one@host/db');
});

test('a value of the same length behind a link that is moved is found, as Kubernetes replaces secrets', () => {
  const folder = testFolder();
  const [first, second, link] = ['first', 'second', 'link'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(first, 'key-one');
  writeFileSync(second, 'key-two');
  symlinkSync(first, link);
  const { temporal } = load({ TEMPORAL_API_KEY_FILE: link, TEMPORAL_ADDRESS: 'temporal:7233' });
  expect(temporal.currentLogin?.()).toEqual({ apiKey: 'key-one', tls: true });
  symlinkSync(second, `${link}.new`);
  renameSync(`${link}.new`, link);
  expect(temporal.currentLogin?.()).toEqual({ apiKey: 'key-two', tls: true });
});

test('the password is put into the address, whatever is in it', () => {
  const file = secretFile('a/b@c:d %?');
  const config = load({ DATABASE_URL: 'postgres://u@host/db', DATABASE_PASSWORD_FILE: file });
  expect(decodeURIComponent(new URL(urlOf(config) ?? '').password)).toBe('a/b@c:d %?');
});

test('certificates of Temporal, and secrets of the agents file, are current, too', () => {
  const [ca, token] = [secretFile('one'), secretFile('t1')];
  const config = load({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca, TRACKER_TOKEN_FILE: token });
  expect(config.temporal.tls).toEqual({ ca: 'one' });
  writeFileSync(ca, 'another');
  writeFileSync(token, 't22');
  expect(config.temporal.currentLogin?.().tls).toEqual({ ca: 'another' });
  expect(config.secret('TRACKER_TOKEN')).toBe('t22');
});

test('the headers of servers and remote agents are current, too', () => {
  const file = secretFile('key-one');
  const { servers } = load(
    { NOTES_KEY_FILE: file },
    `  far: { card: 'https://far.example/card.json', description: far, headersEnv: { x-key: NOTES_KEY } }
servers:
  notes: { url: 'http://notes/mcp', headers: { x-team: blue }, headersEnv: { x-key: NOTES_KEY } }
`,
  );
  const headers = () => ['notes', 'far'].map((name) => servers.get(name)?.headers);
  expect(headers()).toEqual([{ 'x-team': 'blue', 'x-key': 'key-one' }, { 'x-key': 'key-one' }]);
  writeFileSync(file, 'key-two');
  expect(headers()).toEqual([{ 'x-team': 'blue', 'x-key': 'key-two' }, { 'x-key': 'key-two' }]);
});

test('new connections use the new password; open ones keep working', async () => {
  const url = new URL(await postgresUrl());
  const operator = new pg.Client(url.href);
  await operator.connect();
  const role = `${operator.database}_role`;
  await operator.query(`create role ${role} login password 'first'`);
  Object.assign(url, { username: role, password: 'first' });
  const file = secretFile(url.href);
  const { database } = load({ DATABASE_URL_FILE: file });
  if (database.kind !== 'postgres') throw new Error('it is one');
  const backend = openPostgres(database.currentUrl ?? '', pino({ level: 'silent' }));
  const pids = async (count: number) => {
    const asked = Array.from({ length: count }, () =>
      sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.05)`.execute(backend.query),
    );
    return (await Promise.all(asked)).map(({ rows }) => rows[0]?.pid);
  };
  const [open] = await pids(1);
  await operator.query(`alter role ${role} password 'second'`);
  expect(await pids(1)).toEqual([open]);
  await expect(pids(2)).rejects.toMatchObject({ code: '28P01' });
  url.password = 'second';
  writeFileSync(file, url.href);
  expect(new Set(await pids(2)).size).toBe(2);
  await backend.close();
  await operator.query(`drop role ${role}`);
  await operator.end();
});
