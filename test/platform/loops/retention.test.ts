/** Data is deleted when its time is up, and accounts that are not used are ended. The test sets the database's clock. */
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRetention } from '../../../src/platform/loops/retention.ts';
import { eraseAgain, eraseUser } from '../../../src/service/erase.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DatabaseUnavailable } from '../../../src/storage/transient-errors.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';
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
  const keys = ['carol', 'dave'].map((user) => ({ tenant: 'acme', server: 'tracker', user }));
  for (const key of keys) {
    await storage.connections.establish(key, secrets);
    time += 1;
  }

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let looks = 0;
  let isAway = false;
  const { retention } = storage;
  /** The first thing of each look. */
  const deleteExpired: Storage['retention']['deleteExpired'] = async (limit) => {
    looks += 1;
    if (isAway) throw new DatabaseUnavailable(new Error('away'));
    return retention.deleteExpired(limit);
  };
  const deleteOfTurns: Storage['retention']['deleteOfTurns'] = async (kind, ...rest) => {
    if (isAway) throw new DatabaseUnavailable(new Error('away'));
    return retention.deleteOfTurns(kind, ...rest);
  };
  const endedKeys: unknown[] = [];
  const loop = startRetention({
    storage: { ...storage, retention: { ...retention, deleteExpired, deleteOfTurns } },
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
      // The one that comes first.
      if (given.user === 'carol') throw new Error('its secret cannot be read');
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
  await look(0);
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
  await expect.poll(() => endedKeys).toEqual(keys);
  await loop.stop();
  expect(await running.content()).toBe('sealed');
  expect(lines.flatMap(({ deleted }) => (deleted === undefined ? [] : [deleted]))).toEqual([
    { answers: 1, state: 1 },
    { connections: 1 },
  ]);
});

test('a step that fails keeps the others from nothing', async () => {
  const { storage } = await openTestStorage();
  const done = Promise.withResolvers<void>();
  const broken = () => Promise.reject(new Error('broken'));
  const audit = async () => {
    done.resolve();
    return Promise.resolve(0);
  };
  const all = {
    answersMs: 0,
    stateMs: 0,
    imagesMs: 0,
    logMs: 0,
    messagesMs: 0,
    connectionsMs: 0,
    auditMs: 0,
  };
  vi.spyOn(Math, 'random').mockReturnValueOnce(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const loop = startRetention({
    storage: {
      ...storage,
      retention: {
        ...storage.retention,
        deleteExpired: broken,
        deleteTurns: broken,
        deleteOfTurns: broken,
        deleteAudit: audit,
      },
    },
    config: { retention: all },
    endConnection: () => Promise.resolve(null),
    logger: pino({ level: 'silent' }),
  });
  onTestFinished(() => loop.stop());
  await done.promise;
});

test('a user is disconnected and erased once servers that keep calls open were notified', async () => {
  const { storage } = await openTestStorage();
  const turn = await begunTurn(storage, { user: 'alice' });
  const { tenant } = turn;
  await keptStep(storage, turn, { calls: [{ toolCallId: 'c1', toolName: 'tracker__list', input: {} }] });
  await storage.toolCalls.start(turn, 'c1', firstAttempt);
  await storage.toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 's' }, 'paused', firstAttempt);
  await storage.connections.establish(
    { tenant, server: 'tracker', user: 'alice' },
    { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null },
  );
  await storage.turns.end(turn, 'cancelled', { isOwn: true });
  const order: string[] = [];
  const hasUnnotifiedServers: Storage['erasure']['hasUnnotifiedServers'] = async (ref) => {
    const found = await storage.erasure.hasUnnotifiedServers(ref);
    if (!found) return false;
    order.push('waits');
    // What the outbox does meanwhile.
    expect(await storage.toolCalls.rounds(turn, 'c1')).toHaveLength(1);
    await storage.outbox.done([`abandon/${turn.turnId}`]);
    return true;
  };
  const end = async () => {
    order.push('disconnects');
    return Promise.resolve({ revokedAtProvider: true });
  };
  const parts = {
    storage: { ...storage, erasure: { ...storage.erasure, hasUnnotifiedServers } },
    connections: { end },
    logger: pino({ level: 'silent' }),
  };
  await eraseUser(parts, { tenant, user: 'alice' }, { actor: 'operator', waitMs: 0 });
  expect(order).toEqual(['waits', 'disconnects']);
  expect(await storage.turns.get(turn)).toBeNull();
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
