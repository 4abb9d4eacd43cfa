/** A process that cannot start says why and what to do, in one message, and ends with 1. Each costs the start of a process. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { proveKeys } from '../../src/credentials/sealing/key-proofs.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Entry } from './processes.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

export interface FailedStarts {
  /** The commands that are started with a port that is taken, without Temporal, with another key than the database's. */
  withTakenPort: Entry[];
  withoutTemporal: Entry[];
  withOtherKey: Entry[];
  /** What is configured while the demo's identity provider is, as the message names it. */
  besideDemo: Beside[];
}

export type Beside = [named: string, env: Record<string, string>];

export const allBesideDemo: Beside[] = [
  ['HOST=0.0.0.0', { HOST: '0.0.0.0' }],
  ['PUBLIC_URL=https://agents.example', { PUBLIC_URL: 'https://agents.example' }],
  ['a PostgreSQL database (DATABASE_URL)', { DATABASE_URL: 'postgres://127.0.0.1:4/interlude' }],
  ['a Temporal of your own (TEMPORAL_ADDRESS)', { TEMPORAL_ADDRESS: '127.0.0.1:4' }],
];

/** Filled in before the tests run. */
export const subject = {} as { deployment: Deployment };

export async function lastWords(entry: Entry, env: Record<string, string>): Promise<string> {
  const service = subject.deployment.spawn(entry, env);
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.output()).not.toMatch(/^ +at /m);
  return service.output();
}

export async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** To be called once in a file. */
export function testFailedStarts({
  withTakenPort,
  withoutTemporal,
  withOtherKey,
  besideDemo,
}: FailedStarts): void {
  beforeAll(async () => {
    subject.deployment = await createDeployment({ env: { INTERLUDE_KEYS: someKeys } });
  });
  afterAll(() => subject.deployment.stop());
  afterEach(showOutput(() => subject.deployment));

  test.each(withTakenPort)(
    '%s: a port that is taken is named with its variable and another port to take',
    async (entry) => {
      const port = await takenPort();
      const words = await lastWords(entry, {
        PORT: String(port),
        ...(entry === 'server' && { TEMPORAL_ADDRESS: '127.0.0.1:4' }),
      });
      expect(words).toContain(
        `PORT: ${port} is taken by another program; choose a free one, for example PORT=`,
      );
    },
  );

  test.each(withoutTemporal)(
    '%s: a Temporal that is configured and does not answer is named with its variable',
    async (entry) => {
      const words = await lastWords(entry, { TEMPORAL_ADDRESS: '127.0.0.1:4' });
      expect(words).toMatch(/Temporal .*\. Check TEMPORAL_ADDRESS/);
    },
  );

  test.each(withOtherKey)(
    '%s: a database whose key is another one is noticed before anything else is done',
    async (entry) => {
      const dataDir = `${subject.deployment.dataDir}/keys-of-${entry}`;
      const database = { kind: 'sqlite', path: `${dataDir}/interlude.db` } as const;
      const storage = await openStorage(database);
      expect(await proveKeys(storage, parseKeys(someKeys))).toBeNull();
      await storage.close();
      const words = await lastWords(entry, {
        INTERLUDE_DATA: dataDir,
        INTERLUDE_KEYS: generateKey('k1'),
        TEMPORAL_ADDRESS: '127.0.0.1:4',
      });
      expect(words).toContain(
        'INTERLUDE_KEYS does not open what this database holds: its key "k1" is another',
      );
      expect(words).not.toContain('ready');
    },
  );

  test.each(besideDemo)('the demo makes nobody alice or bob beside %s', async (named, env) => {
    const words = await lastWords('start', { AUTH_ISSUER: '', AUTH_CLIENT_ID: '', ...env });
    expect(words).toContain(`• AUTH_ISSUER: needed beside ${named}; `);
  });
}
