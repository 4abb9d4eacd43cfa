import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, newTurn, ending } from './fixtures.ts';

const hourMs = 3_600_000;

onEachDatabase((subject) => {
  async function fresh() {
    const database = await subject().fresh();
    const stack = new AsyncDisposableStack();
    const open = async () => {
      const storage = await openStorage(database);
      stack.defer(() => storage.close());
      return storage;
    };
    const [storage, other] = [await open(), await open()];
    return { storage, other, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  describe('the installation', () => {
    test('is made once by several processes, and goes through generations whose token all of them agree on', async () => {
      await using both = await fresh();
      const [one, two] = [both.storage.installation, both.other.installation];
      expect(await one.read()).toBeNull();
      const made = await Promise.all([one.make(), two.make()]);
      expect(made[0]).toEqual(made[1]);
      expect(made[0]).toMatchObject({ generation: 0, token: null, nextToken: expect.any(String) });
      const first = await one.intend(0);
      expect(await two.intend(0)).toBe(first);
      await one.confirm(1);
      await two.confirm(1);
      expect(await two.read()).toMatchObject({ generation: 1, token: first, nextToken: null });
      expect(await one.intend(0)).toBeNull();
      // Nothing was announced for it.
      await one.confirm(2);
      expect(await one.read()).toMatchObject({ generation: 1 });
      expect(await one.intend(1)).not.toBe(first);
      await two.replace({ id: 'other', generation: 7, token: 'token' });
      expect(await one.read()).toMatchObject({ id: 'other', generation: 7, token: 'token', nextToken: null });
    });

    test('lets one process in each interval write the next generation', async () => {
      await using both = await fresh();
      const [one, two] = [both.storage.installation, both.other.installation];
      expect(await one.claim(hourMs)).toBe(false);
      await one.make();
      const claims = await Promise.all([one.claim(hourMs), two.claim(hourMs), one.claim(hourMs)]);
      expect(claims.filter(Boolean)).toHaveLength(1);
    });

    test('knows the turns that go on, and those that have begun, newest first', async () => {
      await using both = await fresh();
      const { storage } = both;
      const ended = await begunTurn(storage);
      await storage.turns.end(ended, 'completed');
      const running = await begunTurn(storage);
      const starting = newTurn();
      await storage.turns.prepare(starting, ending);
      const ids = (turns: { turnId: string }[]) => new Set(turns.map(({ turnId }) => turnId));
      const { installation } = both.other;
      expect(ids(await installation.liveTurns())).toEqual(new Set([running.turnId, starting.turnId]));
      expect(ids(await installation.latestTurns(5))).toEqual(new Set([running.turnId, ended.turnId]));
      expect(await installation.liveTurns(1)).toHaveLength(1);
    });
  });

  test('a running turn is moved to another version of the code, one that has ended is not', async () => {
    const { storage } = subject();
    const turn = await begunTurn(storage);
    expect(await storage.installation.moveTo(turn, 'current')).toBe(true);
    expect((await storage.turns.get(turn))?.buildId).toBe('current');
    await storage.turns.end(turn, 'completed');
    expect(await storage.installation.moveTo(turn, 'later')).toBe(false);
  });
});
