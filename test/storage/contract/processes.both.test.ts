import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { onEachDatabase, startChild } from '../contract.ts';
import { begunTurn, deltas, seqs, text, upTo } from './fixtures.ts';

onEachDatabase((subject) => {
  describe('several processes', () => {
    test('that start on an empty database at once bring it up together', async () => {
      const database = await subject().fresh();
      const children = upTo(3).map(() => startChild(database, { kind: 'open' }));
      const exits = children.map(async (child) => (await once(child, 'exit'))[0] as number);
      expect(await Promise.all(exits)).toEqual([0, 0, 0]);
      const storage = await openStorage(database);
      await begunTurn(storage);
      await storage.close();
    });

    test('that write into one conversation leave no gap and lose nothing', async () => {
      const { storage, database } = subject();
      const turn = await begunTurn(storage);
      const children = ['a', 'b'].map((name) =>
        startChild(database, { kind: 'append', turn, name, count: 60 }),
      );
      const exits = Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
      await Promise.race(children.map((child) => once(child, 'message')));
      for (const index of upTo(30)) await storage.turnLog.append(turn, [text(`here/${index}`)]);
      expect(await exits).toEqual([0, 0]);
      expect(await seqs(storage, turn)).toEqual(upTo(151));
      const fromA = (await deltas(storage, turn)).filter((delta) => delta.startsWith('a/'));
      expect(fromA).toEqual(Array.from({ length: 60 }, (_, index) => `a/${index}`));
    });

    test('one killed while writing loses nothing it was told is written', async () => {
      const { storage, database } = subject();
      const turn = await begunTurn(storage);
      const child = startChild(database, { kind: 'append', turn, name: 'child', count: 100_000 });
      const told: string[] = [];
      const enough = Promise.withResolvers<void>();
      child.on('message', (key: string) => {
        told.push(key);
        if (told.length === 40) enough.resolve();
      });
      await enough.promise;
      child.kill('SIGKILL');
      await once(child, 'exit');
      await storage.turnLog.append(turn, [text('after')]);
      const written = await deltas(storage, turn);
      expect(written).toEqual(expect.arrayContaining(told));
      expect(written.at(-1)).toBe('after');
      expect(await seqs(storage, turn)).toEqual(upTo(written.length + 1));
    });

    test('exclude each other from the lock of a connection', async () => {
      const { storage, database } = subject();
      const key = { tenant: 'acme', server: 'tracker', user: 'alice' };
      const child = startChild(database, { kind: 'hold-lock', key });
      const exited = once(child, 'exit');
      expect((await once(child, 'message'))[0]).toBe('held');
      const lock = (waitMs: number) =>
        storage.connections.withLock(key, waitMs, () => Promise.resolve('mine'));
      await expect(lock(100)).rejects.toThrow('held the lock');
      const waiting = lock(10_000);
      child.send('release');
      expect(await waiting).toBe('mine');
      await exited;
    });
  });
});
