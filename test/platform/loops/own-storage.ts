/** Turns in a database of their own, which only the test looks after. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { expect } from 'vitest';
import { startReconciler } from '../../../src/platform/loops/reconciler.ts';
import { startOutbox } from '../../../src/service/outbox.ts';
import { createTurnRuns } from '../../../src/service/turn-runs.ts';
import type { TurnRuns } from '../../../src/service/turn-runs.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { OutboxObserver } from '../../../src/storage/database.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export async function ended(storage: Storage, turn: TurnRef): Promise<void> {
  const isEnded = async () => (await storage.turns.get(turn))?.endedAt ?? null;
  await expect.poll(isEnded).not.toBeNull();
}

interface Reconciling {
  /** Instead of Temporal's own words. */
  runs?: TurnRuns;
  confirmMs?: number;
}

/** Its clock is set by the test. A turn may take a day. */
export async function ownStorage() {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-lost-'));
  const warnings: string[] = [];
  const write = (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg);
  const logger = pino({ level: 'warn' }, { write });
  let ahead = 0;
  const now = () => Date.now() + ahead;
  let deliver: OutboxObserver = () => undefined;
  const storage = await openStorage(
    { kind: 'sqlite', path: path.join(folder, 'interlude.db') },
    { now, outbox: (marks) => deliver(marks) },
  );
  const pass = (ms: number) => void (ahead += ms);
  const reconciler = (
    client: Client,
    { runs = createTurnRuns(client), confirmMs = 100 }: Reconciling,
    over = storage,
  ) => startReconciler({ storage: over, logger, config: { turn: { timeoutMs: dayMs } }, confirmMs }, runs);
  return {
    storage,
    pass,
    /** Its lines in the log, from warnings on. */
    warnings,
    reconciles(client: Client, given: Reconciling = {}): AsyncDisposable {
      const loop = reconciler(client, given);
      const nothing = {
        abandonCalls: () => Promise.resolve(),
        onSent: () => undefined,
        questions: { settled: () => undefined },
      };
      const sender = startOutbox({ client, storage, logger, ...nothing });
      ({ deliver } = sender);
      return { [Symbol.asyncDispose]: async () => void (await Promise.all([loop.stop(), sender.stop()])) };
    },
    /** Everything there is, so many times, from the claim to the end. */
    async looks(client: Client, times: number): Promise<void> {
      for (let count = 0; count < times; count++) {
        pass(minuteMs);
        const claimed = Promise.withResolvers<void>();
        const claimDue: Storage['turns']['claimDue'] = async (...which) => {
          const due = await storage.turns.claimDue(...which);
          if (due.length > 0) claimed.resolve();
          return due;
        };
        const turns = { ...storage.turns, claimDue };
        const loop = reconciler(client, {}, { ...storage, turns });
        await claimed.promise;
        await loop.stop();
      }
    },
    async [Symbol.asyncDispose]() {
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}
