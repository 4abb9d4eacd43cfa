/** Two APIs and a worker behind a pooler in transaction mode, and turns that wait for an answer. */
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts';
import type { PgBouncer } from '../pgbouncer.ts';
import { postgresUrl } from '../postgres.ts';
import { kinds } from '../servers/booking-server.ts';
import { begin, envOf, expectBooked, startDesks, urlsOf } from './bookings.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

const found = await findPgBouncer();
let deployment: Deployment;
afterEach(showOutput(() => deployment));

describe.skipIf(found.kind === 'missing').each([
  { how: 'alone', isDirect: false },
  { how: 'with a direct address', isDirect: true },
])('a pooler in transaction mode, $how', ({ isDirect }) => {
  test('what is asked through one API is answered through the other, and both show it', async () => {
    if (found.kind === 'missing') return;
    const desks = await startDesks();
    const databaseUrl = await postgresUrl();
    const pooler: PgBouncer = await startPgBouncer(found, databaseUrl);
    const temporalPort = await freePort();
    deployment = await createDeployment({
      env: {
        ...envOf(urlsOf(desks)),
        DATABASE_URL: pooler.through(databaseUrl),
        ...(isDirect && { DATABASE_DIRECT_URL: databaseUrl }),
        TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
        INTERLUDE_KEYS: someKeys,
      },
    });
    onTestFinished(() => deployment.stop());
    deployment.defer(() => pooler[Symbol.asyncDispose]());
    deployment.defer(() => Promise.all(kinds.map((kind) => desks[kind].stop())));
    await deployment.startTemporal(temporalPort);
    const otherPort = String(await freePort());
    const processes = await Promise.all([
      deployment.start('worker'),
      deployment.start('server'),
      deployment.start('server', { PORT: otherPort }),
    ]);
    const here = deployment.client('alice');
    const there = deployment.client('alice', `http://127.0.0.1:${otherPort}`);

    const bookings = kinds.map((kind) =>
      begin(here, kind, kind === 'held' ? 'plan' : 'book', `Lyon-${kind}`),
    );
    for (const { turn, card } of bookings) {
      const { conversationId } = turn.message;
      const { elicitationId } = await card();
      expect(await there.openElicitations(conversationId)).toMatchObject([{ elicitationId }]);
      const answer = { conversationId, elicitationId, action: 'accept', content: { nights: 5 } } as const;
      await there.answer(answer);
    }
    for (const booking of bookings) await expectBooked(desks, booking, 5);

    const told = processes.map((each) => each.output().split('set DATABASE_DIRECT_URL').length - 1);
    expect(told).toEqual(isDirect ? [0, 0, 0] : [1, 1, 1]);
  });
});
