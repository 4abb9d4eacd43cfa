/** Data is deleted when its time is up, and accounts that are not used are ended. The test sets the database's clock. */
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRetention } from '../../../src/platform/loops/retention.ts';
import { eraseAgain } from '../../../src/service/erase.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DatabaseUnavailable } from '../../../src/storage/transient-errors.ts';
import { begunTurn } from '../../storage/contract/fixtures.ts';
import { answer, formQuestion, open } from '../../storage/contract/question.ts';
import { openTestStorage } from '../../storage/test-storage.ts';

const hourMs = 3_600_000;
const answersMs = 30 * 24 * hourMs;

test('the hourly look deletes what is old enough, also after the database was away, and touches no turn that runs', async () => {
  let time = Date.now();
  const { storage } = await openTestStorage({ now: () => time });
  const lines: { deleted?: unknown }[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line) as object) });
  const answered = async () => {
    const turn = await begunTurn(storage);
    const question = formQuestion(turn);
    await open(storage, question);
    await answer(storage, question, 'accept', { responseId: 'r', sealedContent: 'sealed' });
    return {
      turn,
      question,
      content: async () => (await storage.elicitations.recorded(question.id, 'r'))?.sealedContent,
    };
  };
  const [ended, running] = [await answered(), await answered()];
  await storage.turns.end(ended.turn, 'completed');
  const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
  const key = { tenant: 'acme', server: 'tracker', user: 'dave' };
  await storage.connections.establish(key, secrets);

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let looks = 0;
  let isAway = false;
  const { retention } = storage;
  /** The first thing of each look. */
  const deleteExpired: Storage['retention']['deleteExpired'] = async () => {
    looks += 1;
    if (isAway) throw new DatabaseUnavailable(new Error('away'));
    await retention.deleteExpired();
  };
  const endedKeys: unknown[] = [];
  const loop = startRetention({
    storage: { ...storage, retention: { ...retention, deleteExpired } },
    config: {
      retention: {
        answersMs,
        stateMs: answersMs,
        imagesMs: undefined,
        logMs: undefined,
        messagesMs: undefined,
        connectionsMs: 60 * 24 * hourMs,
        auditMs: undefined,
      },
    },
    async endConnection(given) {
      endedKeys.push(given);
      await storage.connections.remove(given);
      return { revokedAtProvider: true };
    },
    logger,
  });
  onTestFinished(() => loop.stop());
  /** `ms`: how far the database's clock goes on before the next look. */
  const look = async (ms: number) => {
    const before = looks;
    time += ms;
    await expect
      .poll(() => {
        if (looks === before) vi.advanceTimersByTime(hourMs);
        return looks;
      })
      .toBeGreaterThan(before);
  };
  await expect.poll(() => looks).toBe(1);
  await look(answersMs - 60_000);
  expect(await ended.content()).toBe('sealed');
  isAway = true;
  await look(60_000);
  isAway = false;
  await look(60_000);
  await expect.poll(ended.content).toBeNull();
  // A turn that goes on needs it.
  expect(await running.content()).toBe('sealed');
  expect(endedKeys).toEqual([]);
  await look(answersMs);
  await expect.poll(() => endedKeys).toEqual([key]);
  await loop.stop();
  expect(await running.content()).toBe('sealed');
  expect(lines.flatMap(({ deleted }) => (deleted === undefined ? [] : [deleted]))).toEqual([
    { answers: 1, state: 1 },
    { connections: 1 },
  ]);
});

test('erasures that are older than the database keeps them are not repeated: their user may have begun anew', async () => {
  const { storage } = await openTestStorage();
  const turn = await begunTurn(storage);
  await storage.turns.end(turn, 'completed');
  const { tenant, conversation } = turn;
  const parts = {
    storage,
    connections: { end: () => Promise.resolve(null) },
    logger: pino({ level: 'silent' }),
  };
  const list = [{ tenant, conversation, at: storage.now() - 2 * hourMs }];
  const erasing = { actor: 'operator', waitMs: 0 };
  expect(await eraseAgain(parts, list, { ...erasing, keptMs: hourMs })).toEqual([]);
  expect(await storage.turns.get(turn)).not.toBeNull();
  expect(await eraseAgain(parts, list, { ...erasing, keptMs: 3 * hourMs })).toEqual(list);
  expect(await storage.turns.get(turn)).toBeNull();
});
