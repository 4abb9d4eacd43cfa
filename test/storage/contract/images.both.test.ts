import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { withImages } from '../../../src/storage/tables/images.ts';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import { onEachDatabase } from '../contract.ts';
import { newTurn, ending } from './fixtures.ts';

onEachDatabase((subject) => {
  describe('images', () => {
    const mediaType = 'image/png' as const;
    const named = (digest: string, bytes: number) => ({
      type: 'stored-image' as const,
      digest,
      mediaType,
      bytes,
    });

    /** A turn whose message has these images. */
    function turnWith(images: Record<string, number>, given: Partial<NewTurn> = {}): NewTurn {
      const id = randomUUID();
      const content = Object.entries(images).map(([digest, bytes]) => named(digest, bytes));
      return newTurn({
        clientMessageId: id,
        messages: [{ id, role: 'user', content }],
        images: Object.entries(images).map(([digest, bytes]) => ({
          digest,
          mediaType,
          bytes,
          data: `${digest} of ${id}`,
        })),
        ...given,
      });
    }

    test('are there as soon as their turn is prepared, for whoever knows it, and not in its messages', async () => {
      const { storage, other } = subject();
      const turn = turnWith({ a: 1, b: 2 });
      const { turnId, clientMessageId } = turn;
      expect(await storage.turns.prepare(turn, ending)).toEqual({ kind: 'prepared', buildId: '' });
      expect(await other.images.read([{ turnId, digest: 'a' }])).toEqual([
        { turnId, digest: 'a', data: `a of ${clientMessageId}` },
      ]);
      expect(await other.images.read([{ turnId: 'other', digest: 'a' }])).toEqual([]);
      expect(await other.images.read([])).toEqual([]);
      await other.turns.begin(turn);
      expect(await other.messages.list(turn)).toEqual([
        { id: clientMessageId, turnId, role: 'user', content: [named('a', 1), named('b', 2)] },
      ]);
    });

    test('are gone with a turn that is withdrawn, and only its own', async () => {
      const { storage, other } = subject();
      const [gone, stays] = [turnWith({ a: 1 }), turnWith({ a: 1 })];
      await Promise.all([storage.turns.prepare(gone, ending), other.turns.prepare(stays, ending)]);
      expect(await other.turns.withdraw(gone)).toBe(true);
      expect(await storage.images.read([{ turnId: gone.turnId, digest: 'a' }])).toEqual([]);
      expect(await storage.images.read([{ turnId: stays.turnId, digest: 'a' }])).toHaveLength(1);
    });

    test('of a message that another turn has already are not kept', async () => {
      const { storage } = subject();
      const first = turnWith({ a: 1 });
      await storage.turns.prepare(first, ending);
      const second = { ...first, turnId: `turn-${randomUUID()}` };
      expect(await storage.turns.prepare(second, ending)).toEqual({ kind: 'known' });
      expect(await storage.images.read([{ turnId: second.turnId, digest: 'a' }])).toEqual([]);
    });

    test('are shown, the newest first, as far as there is room', async () => {
      const { storage } = subject();
      const older = turnWith({ a: 10, b: 10 });
      const { tenant, conversation } = older;
      const newer = turnWith({ a: 10, c: 5 }, { tenant, conversation });
      for (const turn of [older, newer]) {
        await storage.turns.prepare(turn, ending);
        await storage.turns.begin(turn);
        await storage.turns.end(turn, 'completed');
      }
      const messages = await storage.messages.list(older);
      const shown = async (room: number) =>
        (await withImages(storage.images, messages, room)).map(({ content }) =>
          (content as { digest: string; data?: string }[]).map(({ digest, data }) => [digest, data]),
        );
      const of = (digest: string, turn: NewTurn) => [digest, `${digest} of ${turn.clientMessageId}`];
      expect(await shown(35)).toEqual([
        [of('a', older), of('b', older)],
        [of('a', newer), of('c', newer)],
      ]);
      expect(await shown(25)).toEqual([
        [['a', undefined], of('b', older)],
        [of('a', newer), of('c', newer)],
      ]);
      // The beginning is left out, even where parts of it would fit.
      expect(await shown(14)).toEqual([
        [
          ['a', undefined],
          ['b', undefined],
        ],
        [['a', undefined], of('c', newer)],
      ]);
      expect(await withImages(storage.images, messages, 0)).toEqual(messages);
    });
  });
});
