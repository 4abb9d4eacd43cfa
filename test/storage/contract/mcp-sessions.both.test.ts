import { randomUUID } from 'node:crypto';
import { once, EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { McpSessions } from '../../../src/storage/tables/sessions.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn } from './fixtures.ts';
import { nextMillisecond } from './clock.ts';
import { answer, formQuestion, open } from './question.ts';

const dayMs = 24 * 60 * 60 * 1000;

async function newSession(sessions: McpSessions, owner: string = randomUUID(), lifeMs = dayMs) {
  const session = {
    id: randomUUID(),
    owner,
    version: '2025-11-25',
    shows: { url: false, form: true },
    expiresAt: Date.now() + lifeMs,
  };
  await sessions.create(session);
  return session;
}

const call = { conversation: 'c', turnId: 't', tool: 'ask', progressToken: 7, idempotencyKey: 'k' };

onEachDatabase((subject) => {
  test('what was learned of eras is the same for every process: one row for each tool, the latest first', async () => {
    const { storage, other } = subject();
    const server = randomUUID();
    const one = { server, tool: 'one', era: 'modern', identity: '["a","1"]' } as const;
    const two = { ...one, tool: 'two', era: 'legacy' } as const;
    const learned = async () => (await other.learnedEras.list()).filter((row) => row.server === server);
    await storage.learnedEras.learn(two);
    await nextMillisecond(storage);
    await storage.learnedEras.learn(one);
    expect(await learned()).toEqual([one, two]);
    await nextMillisecond(storage);
    await storage.learnedEras.learn({ ...two, era: 'modern' });
    expect(await learned()).toEqual([{ ...two, era: 'modern' }, one]);
    await storage.learnedEras.forget(server);
    expect(await learned()).toEqual([]);
  });

  describe('sessions of MCP clients', () => {
    test('are the same for every process, until they end', async () => {
      const { storage, other } = subject();
      const session = await newSession(storage.mcpSessions);
      expect(await other.mcpSessions.find(session.id, session.expiresAt)).toEqual(session);
      await other.mcpSessions.addCall(session.id, { ...call, requestId: '1' });
      await other.mcpSessions.addCall(session.id, { ...call, requestId: '1', tool: 'again' });
      expect(await storage.mcpSessions.findCall(session.id, '1')).toEqual({
        ...call,
        requestId: '1',
        tool: 'again',
      });
      await storage.mcpSessions.end(session.id);
      expect(await other.mcpSessions.find(session.id, session.expiresAt)).toBeNull();
      expect(await other.mcpSessions.findCall(session.id, '1')).toBeNull();
    });

    test('are at most two hundred of one owner; those that were used least recently end', async () => {
      const { mcpSessions } = subject().storage;
      const owner = randomUUID();
      const elsewhere = await newSession(mcpSessions);
      const first = await newSession(mcpSessions, owner, dayMs);
      const second = await newSession(mcpSessions, owner, dayMs + 120_000);
      for (let others = 0; others < 199; others += 1) await newSession(mcpSessions, owner, 2 * dayMs);
      const find = ({ id }: { id: string }) => mcpSessions.find(id, 0);
      expect([await find(first), await find(second), await find(elsewhere)]).toEqual([
        null,
        expect.anything(),
        expect.anything(),
      ]);
    });

    test('forget calls after a day, and what was said to questions that are closed', async () => {
      const database = await subject().fresh();
      let at = Date.now();
      const storage = await openStorage(database, { now: () => at });
      const { mcpSessions } = storage;
      const session = await newSession(mcpSessions, 'alice', 10 * dayMs);
      const turn = await begunTurn(storage);
      const [pending, closed] = [formQuestion(turn), formQuestion(turn)];
      for (const row of [pending, closed]) {
        await open(storage, row);
        await mcpSessions.putReply(session.id, { elicitationId: row.id, kind: 'misfit', reasons: 'no' });
      }
      await answer(storage, closed, 'decline');
      await mcpSessions.addCall(session.id, { ...call, requestId: '"old"' });
      at += dayMs + 1;
      await mcpSessions.addCall(session.id, { ...call, requestId: '"new"' });
      expect(await mcpSessions.findCall(session.id, '"old"')).toBeNull();
      expect(await mcpSessions.findCall(session.id, '"new"')).not.toBeNull();
      const said = await mcpSessions.replies(session.id, [pending.id, closed.id]);
      expect(said.map(({ elicitationId }) => elicitationId)).toEqual([pending.id]);
      await storage.close();
    });

    test('tell whoever listens, at any process, when something was said in them', async () => {
      const { storage, other } = subject();
      const session = await newSession(storage.mcpSessions);
      const reply = { elicitationId: randomUUID(), kind: 'undelivered', reasons: null } as const;
      const heard = new EventEmitter();
      const listeners = [storage, other].map((of, at) =>
        of.mcpSessions.onReply(session.id, () => heard.emit(`${at}`)),
      );
      const all = Promise.all([once(heard, '0'), once(heard, '1')]);
      await other.mcpSessions.putReply(session.id, reply);
      await all;
      expect(await storage.mcpSessions.replies(session.id, [reply.elicitationId])).toEqual([
        { ...reply, times: 1 },
      ]);
      for (const stop of listeners) stop();
    });
  });
});
