/** Everything a database must do, through a pooler in transaction mode. */
import { afterAll, beforeAll, describe } from 'vitest';
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts';
import type { PgBouncer } from '../pgbouncer.ts';
import { postgresUrl } from '../postgres.ts';
import { storageContract } from './contract.ts';

const found = await findPgBouncer();
let pooler: PgBouncer;

beforeAll(async () => {
  if (found.kind === 'ready') pooler = await startPgBouncer(found, await postgresUrl());
});
afterAll(() => pooler?.[Symbol.asyncDispose]());

describe.skipIf(found.kind === 'missing').each([
  { how: 'alone', isDirect: false },
  { how: 'with a direct address', isDirect: true },
])('a pooler in transaction mode, $how', ({ isDirect }) => {
  storageContract(async () => {
    const url = await postgresUrl();
    return { kind: 'postgres', url: pooler.through(url), directUrl: isDirect ? url : undefined };
  });
});
