import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { NewQuestion } from '../../../src/storage/tables/elicitation-rows.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';
import { begunTurn, keptStep, newTurn, refuseWhileBusy, step } from './fixtures.ts';
import { answer, failuresOf, form, formQuestion, open, question, request, settle } from './question.ts';

const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };

/** Each path that can settle a question of `call`; the turn's conversation is there for a new message. */
const paths: Record<string, (storage: Storage, row: NewQuestion) => Promise<unknown>> = {
  'an answer': (storage, row) => answer(storage, row, 'decline'),
  'a second answer': (storage, row) => answer(storage, row, 'cancel'),
  'a connected account': ({ connections }, { tenant, user }) =>
    connections.establish({ tenant, server: 'tracker', user }, secrets),
  'the deadline': (storage, { id }) => settle(storage, id, { type: 'deadline-passed' }),
  'a withdrawal': (storage, { id }) => settle(storage, id, { type: 'withdrawn', because: 'server_gone' }),
  'an operator': (storage, { id }) => settle(storage, id),
  'the end of its call': ({ toolCalls }, row) => toolCalls.finish(row, 'call', result),
  'a waiter that leaves': ({ elicitations }, row) => elicitations.leave(row, { toolCallId: 'call' }),
  'a cancelled turn': ({ turns }, row) => turns.cancel(row),
  'the end of its turn': ({ turns }, row) => turns.end(row, 'failed'),
  'a new message': ({ turns }, { tenant, conversation }) =>
    turns.prepare(newTurn({ tenant, conversation }), refuseWhileBusy),
};

const result = {
  message: { id: 'result', role: 'tool' as const, content: [] },
  event: { key: 'result', event: step(9).event },
};

function pathOf(name: string): (storage: Storage, row: NewQuestion) => Promise<unknown> {
  const path = paths[name];
  if (!path) throw new Error(`there is no path ${name}`);
  return path;
}

const pairs = Object.keys(paths).flatMap((one, index) =>
  Object.keys(paths)
    .slice(index + 1)
    .map((other) => [one, other] as const),
);

onEachDatabase((subject) => {
  async function callAsks(storage: Storage, given: Partial<NewQuestion> = {}) {
    const turn = await begunTurn(storage);
    await keptStep(storage, turn, { calls: [{ toolCallId: 'call', toolName: 'list', input: {} }] });
    const row = question(turn, given);
    await open(storage, row);
    return { turn, row };
  }

  /** As the log has them. */
  async function statusesOf({ turnLog }: Storage, turn: { tenant: string; conversation: string }) {
    const events = (await turnLog.read(turn, 0)).map(({ event }) => event);
    return events.flatMap((event) => (event.type === 'elicitation-request' ? [event.status] : []));
  }

  describe('a question is settled once', () => {
    test.each(pairs)('by %s or by %s', async (one, another) => {
      const { storage, other } = subject();
      for (let round = 0; round < 3; round++) {
        // The deadline counts only when it settles the question: answers come too late then.
        const isLate = one === 'the deadline' || another === 'the deadline';
        const { turn, row } = await callAsks(storage, isLate ? { timeoutMs: -1 } : {});
        const racing = [pathOf(one)(storage, row), pathOf(another)(other, row)];
        const outcomes = await Promise.allSettled(round % 2 === 0 ? racing : racing.toReversed());
        expect(failuresOf(outcomes)).toEqual([]);
        const settled = await storage.elicitations.get(row.id);
        expect(settled?.status).not.toBe('pending');
        expect(await statusesOf(storage, turn)).toEqual(['pending', settled?.status]);
        expect(await settle(other, row.id, { type: 'page-done' })).toMatchObject([{ question: settled }]);
      }
    });

    test('an answer is recorded with what follows from it, and its receipt stays true', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = formQuestion(turn);
      await open(storage, row);
      const [accepted, declined] = await Promise.all([
        answer(storage, row, 'accept', { sealedContent: 'sealed', surface: 'other' }),
        answer(other, row, 'decline'),
      ]);
      const isAccepted = accepted.question.responseId === 'response/accept';
      const [winner, loser] = isAccepted ? [accepted, declined] : [declined, accepted];
      expect(winner).toMatchObject({ isNew: true, isOverdue: false, earlier: null });
      expect(loser).toMatchObject({ isNew: false, isOverdue: false, earlier: null });
      expect(loser.question).toEqual(winner.question);
      expect(loser.winner).toEqual(winner.winner);
      expect(winner.question.responseId).toBe(winner.winner?.responseId);
      const loserId = isAccepted ? 'response/decline' : 'response/accept';
      expect(await storage.elicitations.recorded(row.id, loserId)).toBeNull();
      expect(await storage.audit.ofElicitation(row.id)).toHaveLength(1);

      // Sent again, it finds itself.
      const again = await answer(other, row, isAccepted ? 'accept' : 'decline');
      expect(again).toMatchObject({ isNew: false, earlier: winner.winner, question: winner.question });
    });

    test('an answer by another user is not recorded', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = formQuestion(turn);
      await open(storage, row);
      expect(await answer(storage, { ...row, user: 'bob' })).toMatchObject({
        question: { status: 'pending' },
        isNew: false,
      });
      expect(await storage.elicitations.recorded(row.id, 'response/accept')).toBeNull();
    });

    test('an answer after the deadline changes nothing and leaves the question to its deadline', async () => {
      await using at = await openClock(subject());
      const turn = await begunTurn(at.storage);
      const row = formQuestion(turn, { timeoutMs: 1_000 });
      await open(at.storage, row);
      at.pass(1_000);
      const late = { question: { status: 'pending' }, isOverdue: true, isNew: false, winner: null };
      expect(await answer(at.storage, row)).toMatchObject(late);
      expect(await at.storage.elicitations.recorded(row.id, 'response/accept')).toBeNull();
      expect(await at.storage.audit.ofElicitation(row.id)).toEqual([]);
      await settle(at.other, row.id, { type: 'deadline-passed' });
      expect(await answer(at.storage, row)).toMatchObject({ question: { status: 'expired' } });
      expect(at.marks).toEqual([]);
    });
  });

  describe('a question about an account', () => {
    test('keeps the consent, and is settled with it once the account is connected', async () => {
      const { storage, other } = subject();
      const { turn, row } = await callAsks(storage);
      const consent = await answer(storage, row);
      expect(consent).toMatchObject({
        question: { status: 'pending', consent: 'response/accept' },
        isNew: true,
        winner: null,
      });
      expect(await answer(other, row)).toMatchObject({ isNew: false, earlier: { action: 'accept' } });
      await other.connections.establish({ tenant: turn.tenant, server: 'tracker', user: 'alice' }, secrets);
      expect(await storage.elicitations.get(row.id)).toMatchObject({
        status: 'accept',
        responseId: 'response/accept',
        consent: null,
      });
    });

    test('is not settled by an older account, nor by that of another user', async () => {
      const { storage } = subject();
      const { tenant } = await begunTurn(storage);
      const key = { tenant, server: 'tracker', user: 'alice' };
      await storage.connections.establish(key, secrets);
      const turn = await begunTurn(storage, { tenant });
      const row = question(turn, { seenVersion: 1 });
      await open(storage, row);
      await storage.connections.establish({ ...key, user: 'bob' }, secrets);
      await storage.connections.settleConnected(key);
      expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'pending' });
      expect(await storage.connections.establish(key, secrets)).toBe(2);
      expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'accept', responseId: null });
    });

    test('is not opened where it is connected by now', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const key = { tenant: turn.tenant, server: 'tracker', user: 'alice' };
      await storage.connections.establish(key, secrets);
      expect(await open(storage, question(turn))).toEqual({ kind: 'already-connected', version: 1 });
      expect(await open(storage, question(turn, { seenVersion: 1 }))).toMatchObject({ kind: 'opened' });
      await storage.connections.remove(key);
      expect(await open(storage, question(turn, { seenVersion: 0 }))).toMatchObject({ kind: 'opened' });
    });

    test('never misses the account that is connected while it opens', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      for (let round = 0; round < 50; round++) {
        const key = { tenant: turn.tenant, server: `server-${round}`, user: 'alice' };
        const row = question(turn, { server: key.server });
        const [opened, version] = await Promise.all(
          round % 2 === 0
            ? [open(storage, row, { perUser: 100 }), other.connections.establish(key, secrets)]
            : [open(other, row, { perUser: 100 }), storage.connections.establish(key, secrets)],
        );
        expect(version).toBe(1);
        const found = await storage.elicitations.get(row.id);
        expect([opened.kind, found?.status]).toBeOneOf([
          ['opened', 'accept'],
          ['already-connected', undefined],
        ]);
      }
    });

    test('of a shared account follows in batches, which can be completed later', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const rows = Array.from({ length: 120 }, (_, index) => question(turn, { user: `user-${index}` }));
      for (const row of rows) await open(storage, row);
      const key = { tenant: turn.tenant, server: 'tracker', user: null };
      await other.connections.establish(key, secrets);
      const late = question(turn, { user: 'late' });
      await open(storage, late);
      const statusOf = async () => (await storage.elicitations.ofConversation(turn, 'accept')).length;
      expect(await statusOf()).toBe(120);
      await Promise.all([storage, other].map(({ connections }) => connections.settleConnected(key)));
      expect(await statusOf()).toBe(121);
    });

    test('is settled by consent where the shared account is connected already', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.connections.establish({ tenant: turn.tenant, server: 'tracker', user: null }, secrets);
      const row = question(turn);
      await open(storage, row);
      expect(await answer(storage, row)).toMatchObject({
        question: { status: 'accept', responseId: 'response/accept' },
        winner: { action: 'accept' },
      });
    });

    test('waits for the last of the calls that share it', async () => {
      await using at = await openClock(subject());
      const { storage } = at;
      const turn = await begunTurn(storage);
      const calls = ['c1', 'c2'].map((toolCallId) => ({ toolCallId, toolName: 'tracker__list', input: {} }));
      await keptStep(storage, turn, { calls });
      const waiter = (toolCallId: string) => ({ toolCallId, workflowId: `turn/${toolCallId}` });
      const row = question(turn, { waiter: waiter('c1') });
      await open(storage, row);
      await open(at.other, { ...row, id: randomUUID(), waiter: waiter('c2') });
      await storage.toolCalls.finish(turn, 'c1', result);
      expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'pending' });
      await storage.elicitations.leave(turn, { workflowId: 'turn/c2' });
      expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'cancel', because: null });
      expect(await statusesOf(storage, turn)).toEqual(['pending', 'cancel']);
      expect(at.marks).toEqual([]);
    });

    test('is told of by a mark for each workflow that waits, and to none twice', async () => {
      await using at = await openClock(subject());
      const turn = await begunTurn(at.storage);
      const place = `account/${turn.turnId}/tracker/0`;
      const { tenant, conversation, turnId } = turn;
      const first = question(turn, { place, waiter: { toolCallId: 'c1', workflowId: 'turn/1' } });
      await open(at.storage, first);
      for (const [toolCallId, workflowId] of [
        ['c2', 'turn/1/agent/a'],
        ['c3', 'turn/1'],
        ['c4', null],
      ] as const)
        await open(at.other, question(turn, { place, waiter: { toolCallId, workflowId } }));
      await at.storage.connections.establish({ tenant, server: 'tracker', user: 'alice' }, secrets);
      const mark = { kind: 'settled', elicitationId: first.id, turn: { tenant, conversation, turnId } };
      const byWorkflow = at.marks.toSorted((one, other) => (one.id < other.id ? -1 : 1));
      expect(byWorkflow).toEqual([
        { ...mark, id: expect.any(String), workflowId: 'turn/1' },
        { ...mark, id: expect.any(String), workflowId: 'turn/1/agent/a' },
      ]);
    });
  });

  describe('a call that ends', () => {
    test.each([
      ['a server asked', form, { status: 'cancel', because: 'server_gone' }],
      ['an account is missing', request, { status: 'cancel', because: null }],
    ])('takes back what it asked: %s', async (_, asked, closed) => {
      const { storage } = subject();
      const { turn, row } = await callAsks(storage, { request: asked, server: null });
      await storage.toolCalls.finish(turn, 'call', result);
      expect(await storage.elicitations.get(row.id)).toMatchObject(closed);
      const types = (await storage.turnLog.read(turn, 2)).map(({ event }) => event.type);
      expect(types).toEqual(['elicitation-request', 'start-step']);
    });

    test('at the moment in which it asks leaves no open question', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 20; round++) {
        const { turn, row } = await callAsks(storage);
        const second = formQuestion(turn);
        const [finished, opened] = await Promise.all([
          storage.toolCalls.finish(turn, 'call', result),
          open(other, second),
        ]);
        expect(finished).toBe(true);
        const statuses = await Promise.all(
          [row, second].map(async ({ id }) => (await storage.elicitations.get(id))?.status),
        );
        expect(statuses).toEqual(['cancel', opened.kind === 'opened' ? 'cancel' : undefined]);
      }
    });
  });

  describe('a page that reports', () => {
    test('settles its question, and consent to open it is on the log once', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const page = {
        ...request,
        context: { trigger: 'tool_elicitation' as const, agent: 'assistant' },
      };
      const row = question(turn, { request: page, server: null, seenVersion: null, isReported: true });
      await open(storage, row);
      await Promise.all([answer(storage, row), answer(other, row)]);
      expect(await settle(storage, row.id, { type: 'page-done' })).toMatchObject([
        { question: { status: 'accept', responseId: 'response/accept' } },
      ]);
      const events = (await storage.turnLog.read(turn, 1)).map(({ event }) =>
        'status' in event ? event.status : event.type,
      );
      expect(events).toEqual(['pending', 'elicitation-consented', 'accept']);
    });
  });
});
