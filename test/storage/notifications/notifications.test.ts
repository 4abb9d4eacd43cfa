import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { lastSeqs } from '../../../src/storage/log/append.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts';
import { createNotifications } from '../../../src/storage/notifications/notifications.ts';
import { begunTurn, step } from '../contract/fixtures.ts';

test('the counters of all conversations are looked at only when another process has written to the file', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-wake-ups-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const database = { kind: 'sqlite', path: path.join(folder, 'interlude.db') } as const;
  const other = await openStorage(database);
  stack.defer(() => other.close());
  const turn = await begunTurn(other);
  const { query, version, close } = await openSqlite(database.path);
  stack.defer(close);

  let looks = 0;
  let polls = 0;
  let onPoll = () => {};
  const pollsUntil = (count: number) =>
    new Promise<void>((resolve) => (onPoll = () => polls >= count && resolve()));
  let isAway = false;
  const notifications = createNotifications({
    pollMs: 1,
    channel: null,
    async version() {
      polls += 1;
      onPoll();
      return version!();
    },
    lastSeqs(refs) {
      looks += 1;
      if (!isAway) return lastSeqs(query, refs);
      isAway = false;
      throw new Error('the database is away');
    },
    logger: pino({ level: 'silent' }),
  });
  stack.defer(() => notifications.close());
  const subscription = notifications.subscribe(turn);
  stack.defer(() => subscription.close());
  await pollsUntil(20);
  expect(looks).toBe(1);

  for (const seq of [2, 3]) {
    subscription.reset();
    // A look that fails is taken again, though nothing more is written.
    isAway = seq === 3;
    await other.turnLog.append(turn, [step(seq)]);
    await subscription.notified();
  }
  await pollsUntil(polls + 20);
  expect(looks).toBe(4);
});

test('a poll that finds what was to be expected notifies nobody', async () => {
  let seq = 0;
  let polls = 0;
  const polledThrice = Promise.withResolvers<void>();
  const notifications = createNotifications({
    pollMs: 1,
    channel: null,
    initially: 0,
    async lastSeqs(refs) {
      polls += 1;
      if (polls > 3) polledThrice.resolve();
      return refs.map((ref) => ({ ...ref, last_seq: seq }));
    },
    logger: pino({ level: 'silent' }),
  });
  const subscription = notifications.subscribe({ tenant: 'tenant', conversation: 'conversation' });
  let isNotified = false;
  const notified = subscription.notified().then(() => (isNotified = true));
  await polledThrice.promise;
  expect(isNotified).toBe(false);
  seq = 1;
  await notified;
  await notifications.close();
});
