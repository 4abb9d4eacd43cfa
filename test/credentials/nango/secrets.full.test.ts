/** The library's errors carry the key, and Nango's answers carry tokens: neither gets out. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { alice, setUpNangoStore, tokenIn } from './nango-store.ts';
import type { NangoStoreSetup } from './nango-store.ts';

/** All of it: hidden members, causes, prototypes' getters. */
function everythingOf(thrown: unknown): string {
  const more = thrown instanceof Error ? [thrown.stack, thrown.cause] : [];
  return inspect([thrown, more], {
    depth: Infinity,
    showHidden: true,
    getters: true,
    maxStringLength: null,
  });
}

const failures: [string, (setup: NangoStoreSetup) => unknown][] = [
  ['is down', ({ nango }) => nango.down()],
  ['hangs', ({ nango }) => void (nango.hang = true)],
  ['has too much to do', ({ nango }) => nango.rateLimit(2)],
  ['refuses the renewal', ({ nango }) => nango.failRefresh('invalid_grant')],
  ['knows no such integration', ({ server }) => void (server.nango = { integration: 'nowhere' })],
  ['has no such connection', ({ nango }) => nango.connections().splice(0)],
];

test.each(failures)('neither key nor token is in what is thrown or logged when Nango %s', async (_, fail) => {
  const setup = await setUpNangoStore({ tokenLifeMs: 3_600_000 });
  const { server, nango, connect, later, resolve, lines } = setup;
  const { attempt, connectionId } = await connect();
  const tokens = [tokenIn(await resolve()), attempt.token];
  const kept = nango.connections().map(({ credentials }) => credentials.refreshToken ?? '');
  later(3_600_000);
  // Where it answers, a busy machine may take its time; where it hangs, nobody waits for long.
  await fail(setup);
  const { store } = await setup.another({ timeoutMs: nango.hang ? 1_000 : 20_000 });
  const thrown: unknown[] = [];
  const tries = [
    () => store.begin({ server, key: alice, elicitationId: 'q2', actor: 'alice' }),
    () => store.resolve(server, alice),
    () => store.confirm(attempt.id, connectionId),
    () => store.look(attempt.id),
    () => store.reject(server, alice, { version: 1, status: 401, challenge: null }),
    () => store.discard('nowhere', connectionId),
    () => store.disconnect(alice, server),
  ];
  for (const attemptOne of tries) await attemptOne().catch((error: unknown) => thrown.push(error));
  const seen = thrown.map(everythingOf).join('\n') + lines.join('\n');
  for (const secret of [nango.apiKey, ...tokens, ...kept].filter((one) => one !== ''))
    expect(seen).not.toContain(secret);
  for (const error of thrown) expect((error as Error).name).toBe('CredentialStoreError');
});

test('neither key, token, tag nor id of the connection is in our database in clear', async () => {
  const { connect, resolve, storage, nango, folder } = await setUpNangoStore();
  const { connectionId, attempt } = await connect();
  const token = tokenIn(await resolve());
  await storage.ping();
  const files = await Promise.all(
    ['test.db', 'test.db-wal'].map((name) => readFile(path.join(folder, name))),
  );
  const bytes = Buffer.concat(files).toString('latin1');
  expect(bytes).toContain(attempt.id);
  for (const secret of [token, attempt.token, nango.apiKey, connectionId])
    expect(bytes).not.toContain(secret);
});
