import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';
import { begunTurn, keptStep, step } from './fixtures.ts';
import { answer, formQuestion, open, question, request, settle } from './question.ts';

onEachDatabase((subject) => {
  describe('elicitations', () => {
    test('opening writes the row and the event, once', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn, { expiresAt: Date.now() + 60_000 });
      const opened = {
        kind: 'opened',
        questions: [{ question: expect.objectContaining({ id: row.id }), remainingMs: expect.any(Number) }],
      };
      expect(await open(storage, row)).toEqual(opened);
      expect(await open(storage, row)).toEqual(opened);
      const { place: _, waiter: __, timeoutMs: ___, expiresAt: deadline, ...kept } = row;
      expect(await storage.elicitations.get(row.id)).toEqual({
        ...kept,
        deadline,
        status: 'pending',
        responseId: null,
        consent: null,
        createdAt: expect.any(Number),
        settledAt: null,
        because: null,
        isUnused: false,
      });
      expect((await storage.turnLog.read(turn, 1)).map(({ event }) => event)).toEqual([
        {
          type: 'elicitation-request',
          ...request,
          elicitationId: row.id,
          status: 'pending',
          expiresAt: new Date(deadline ?? 0).toISOString(),
        },
      ]);
    });

    test('questions open together or not at all, in their order', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const three = [formQuestion(turn), formQuestion(turn), formQuestion(turn)];
      expect(await open(storage, three, { perUser: 2 })).toEqual({ kind: 'too-many-open' });
      expect(await storage.elicitations.ofConversation(turn)).toEqual([]);
      const opened = await open(storage, three);
      expect(opened).toMatchObject({ questions: three.map(({ id }) => ({ question: { id } })) });
    });

    test('a question opened again at its place is the one that is there, as it is by now', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const first = formQuestion(turn);
      const again = formQuestion(turn, { place: first.place });
      const racing = await Promise.all(
        [storage, other].map((one, at) => open(one, at === 0 ? first : again)),
      );
      const [one, same] = racing.map(
        (opened) => opened.kind === 'opened' && opened.questions[0]?.question.id,
      );
      expect(one).toBe(same);
      expect(await storage.elicitations.ofConversation(turn)).toHaveLength(1);

      await answer(storage, { ...first, id: String(one) }, 'decline');
      expect(await open(storage, formQuestion(turn, { place: first.place }))).toMatchObject({
        questions: [{ question: { id: one, status: 'decline' }, remainingMs: 0 }],
      });
    });

    test('questions of one turn are at the places of that turn, and of one call found in it', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const waiter = (toolCallId: string) => ({ toolCallId, workflowId: 'turn/1' });
      const shared = question(turn, { waiter: waiter('c1') });
      const own = formQuestion(turn, { waiter: waiter('c1') });
      await open(storage, [shared, own]);
      await open(storage, { ...shared, waiter: waiter('c2') });
      const ofCall = async (toolCallId: string) =>
        (await storage.elicitations.ofCall(turn, toolCallId)).map((timed) => timed.question.id).toSorted();
      expect(await ofCall('c1')).toEqual([shared.id, own.id].toSorted());
      expect(await ofCall('c2')).toEqual([shared.id]);
      const elsewhere = await begunTurn(storage, { tenant: turn.tenant });
      expect(await storage.elicitations.ofCall(elsewhere, 'c1')).toEqual([]);
      expect(await storage.elicitations.read([own.id, 'unknown', shared.id])).toMatchObject([
        { question: { id: own.id } },
        { question: { id: shared.id } },
      ]);
    });

    test('a call that is finished opens nothing', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls: [{ toolCallId: 'call', toolName: 'list', input: {} }] });
      const message = { id: 'result', role: 'tool' as const, content: [] };
      await storage.toolCalls.finish(turn, 'call', { message, event: step(1) });
      expect(await open(storage, question(turn))).toEqual({ kind: 'over' });
      expect(await storage.elicitations.ofConversation(turn)).toEqual([]);
    });

    test('how an account was refused is known in its turn', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      const refusal = (server: string) => storage.elicitations.refusalOf(turn, server);
      await open(storage, row);
      expect(await refusal('tracker')).toBeNull();
      await answer(storage, row, 'decline');
      expect(await refusal('tracker')).toBe('decline');
      expect(await refusal('wiki')).toBeNull();
    });

    test('what waits for the outcome has it as soon as it is written, by any process', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = formQuestion(turn);
      await open(storage, row);
      const waiting = new AbortController();
      const outcomes = [storage, other].map((one) => one.elicitations.untilSettled(row, waiting.signal));
      await answer(storage, row, 'decline', { responseId: 'r' });
      for (const outcome of await Promise.all(outcomes))
        expect(outcome).toMatchObject({ id: row.id, status: 'decline', responseId: 'r' });
      expect(await other.elicitations.untilSettled(row, waiting.signal)).toMatchObject({ id: row.id });
    });

    test('what does not wait any longer gets no outcome', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = formQuestion(turn);
      await open(storage, row);
      const waiting = new AbortController();
      const outcome = storage.elicitations.untilSettled(row, waiting.signal);
      await storage.turnLog.append(turn, [{ key: 'else', event: { type: 'text-start', id: '0' } }]);
      waiting.abort();
      expect(await outcome).toBeNull();
      expect(await storage.elicitations.untilSettled(row, waiting.signal)).toBeNull();
    });

    test('a user has at most so many open questions, however many are opened at once', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const second = await begunTurn(storage, { tenant });
      await open(storage, question(turn, { timeoutMs: -60_000 }), { perUser: 3 });
      const questions = Array.from({ length: 10 }, (_, index) => question(index % 2 === 0 ? turn : second));
      const opened = await Promise.all(
        questions.map((row, index) => open(index % 3 === 0 ? storage : other, row, { perUser: 3 })),
      );
      const kinds = opened.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'opened')).toHaveLength(3);
      const refused = questions[kinds.indexOf('too-many-open')]!;
      expect(await storage.elicitations.get(refused.id)).toBeNull();
      const bobs = question(turn, { user: 'bob' });
      expect(await open(storage, bobs, { perUser: 3 })).toMatchObject({ kind: 'opened' });

      await answer(storage, questions[kinds.indexOf('opened')]!, 'decline');
      expect(await open(storage, refused, { perUser: 3 })).toMatchObject({ kind: 'opened' });
    });

    test('of a turn so many questions are open, and of its user more', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const other = await begunTurn(storage, { tenant: turn.tenant });
      const limits = { perUser: 3, perTurn: 2 };
      const openOne = async (of: typeof turn) => (await open(storage, question(of), limits)).kind;
      const first = question(turn);
      expect(await open(storage, first, limits)).toMatchObject({ kind: 'opened' });
      expect([await openOne(turn), await openOne(turn)]).toEqual(['opened', 'too-many-in-turn']);
      expect([await openOne(other), await openOne(other)]).toEqual(['opened', 'too-many-open']);
      await answer(storage, first, 'decline');
      expect(await openOne(turn)).toBe('opened');
    });

    test('questions are found by conversation and status', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const [first, second] = [question(turn), question(turn)];
      await open(storage, first);
      await open(storage, second);
      await answer(storage, first, 'decline');
      const ids = async (
        ...status: Parameters<Storage['elicitations']['ofConversation']> extends [unknown, ...infer S]
          ? S
          : never
      ) => (await storage.elicitations.ofConversation(turn, ...status)).map(({ id }) => id).toSorted();
      expect(await ids()).toEqual([first.id, second.id].toSorted());
      expect(await ids('pending')).toEqual([second.id]);
      expect(await ids('decline')).toEqual([first.id]);
      expect(await ids('expired')).toEqual([]);
    });

    test('the end of a turn closes its questions, and leaves those that were answered as they are', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const [pending, answered] = [question(turn), question(turn)];
      await open(storage, pending);
      await open(storage, answered);
      await answer(storage, answered, 'decline');
      expect(await storage.turns.end(turn, 'cancelled')).toMatchObject({
        questions: [{ id: pending.id, status: 'cancel' }],
      });
      expect(await storage.elicitations.get(answered.id)).toMatchObject({ status: 'decline' });
      const events = (await storage.turnLog.read(turn, 4)).map(({ event }) => event);
      expect(events).toMatchObject([
        { type: 'elicitation-request', elicitationId: pending.id, status: 'cancel' },
        { type: 'turn-ended', status: 'cancelled' },
      ]);
    });

    test.each([
      ['in Slack', { surface: 'slack' as const }, false, false],
      ['elsewhere', { surface: 'other' as const }, false, true],
      ['on the page that Slack led to', { surface: 'other' as const }, true, false],
      ['without saying where', {}, false, false],
    ])('an answer that was given %s', async (_, where, isLed, isElsewhere) => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      const { wasSettledElsewhere } = other.slack.questions;
      await open(storage, row);
      const opened = { at: 1, tenant: row.tenant, elicitationId: row.id, actor: row.user, detail: '' };
      if (isLed) await storage.audit.record({ ...opened, action: 'opened', address: null });
      await answer(storage, row, 'decline', { responseId: 'r1', ...where });
      expect(await wasSettledElsewhere(row.id)).toBe(isElsewhere);
      expect(await storage.elicitations.recorded(row.id, 'r1')).toEqual({
        responseId: 'r1',
        action: 'decline',
        sealedContent: null,
        receivedAt: 5,
        ...where,
      });
    });

    test('what the clock or the end of the turn closes was not settled elsewhere; an account is connected elsewhere', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { wasSettledElsewhere } = storage.slack.questions;
      const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
      const { tenant } = turn;
      const closings: [server: string, close: (id: string) => Promise<unknown>, isElsewhere: boolean][] = [
        ['a', (id) => settle(storage, id, { type: 'withdrawn', because: 'server_gave_up' }), false],
        ['b', (id) => settle(storage, id), false],
        ['c', () => storage.connections.establish({ tenant, server: 'c', user: 'alice' }, secrets), true],
      ];
      for (const [server, close, isElsewhere] of closings) {
        const row = question(turn, { server });
        await open(storage, row);
        expect(await wasSettledElsewhere(row.id)).toBe(false);
        await close(row.id);
        expect(await wasSettledElsewhere(row.id)).toBe(isElsewhere);
      }
      expect(await wasSettledElsewhere('unknown')).toBe(false);
    });

    test('the deadline is set by the clock of the database, and so is what is left', async () => {
      await using at = await openClock(subject());
      const turn = await begunTurn(at.storage);
      const row = formQuestion(turn, { timeoutMs: 10_000 });
      expect(await open(at.storage, row)).toMatchObject({ questions: [{ remainingMs: 10_000 }] });
      at.pass(4_000);
      expect(await at.other.elicitations.read([row.id])).toMatchObject([{ remainingMs: 6_000 }]);
      expect(await settle(at.storage, row.id, { type: 'deadline-passed' })).toMatchObject([
        { question: { status: 'pending' }, remainingMs: 6_000 },
      ]);
      at.pass(6_000);
      expect(await at.other.elicitations.ofCall(turn, 'call')).toMatchObject([{ remainingMs: 0 }]);
      expect(await statusOf(at.storage, row.id)).toBe('pending');
      expect(await settle(at.storage, row.id, { type: 'deadline-passed' })).toMatchObject([
        { question: { status: 'expired' }, remainingMs: 0 },
      ]);
    });
  });
});

async function statusOf({ elicitations }: Storage, id: string) {
  return (await elicitations.get(id))?.status;
}
