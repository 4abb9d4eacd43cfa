import { describe, expect, test } from 'vitest';
import type { Elicitations } from '../../../src/storage/ports/elicitations.ts';
import type { Subject } from '../contract.ts';
import { begunTurn } from './fixtures.ts';
import { question, request } from './question.ts';

export function elicitationsContract(subject: () => Subject): void {
  describe('elicitations', () => {
    test('opening writes the row and the event, once', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn, { deadline: Date.UTC(2100, 0, 1) });
      expect(await storage.elicitations.open(row, { perUser: 20 })).toBe('opened');
      expect(await storage.elicitations.open(row, { perUser: 20 })).toBe('opened');
      expect(await storage.elicitations.get(row.id)).toEqual({
        ...row,
        status: 'pending',
        responseId: null,
        createdAt: expect.any(Number),
        settledAt: null,
        because: null,
      });
      expect((await storage.turnLog.read(turn, 1)).map(({ event }) => event)).toEqual([
        {
          type: 'elicitation-request',
          ...request,
          elicitationId: row.id,
          status: 'pending',
          expiresAt: '2100-01-01T00:00:00.000Z',
        },
      ]);
    });

    test('the first settlement wins', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      await storage.elicitations.open(row, { perUser: 20 });
      const outcomes = ['accept', 'decline', 'cancel', 'expired'] as const;
      const settled = await Promise.all(
        outcomes.map((outcome, index) =>
          (index % 2 === 0 ? storage : other).elicitations.settle(row.id, outcome, `response/${outcome}`),
        ),
      );
      expect(settled.filter(Boolean)).toHaveLength(1);
      const winner = outcomes[settled.indexOf(true)];
      expect(await storage.elicitations.get(row.id)).toMatchObject({
        status: winner,
        responseId: `response/${winner}`,
        settledAt: expect.any(Number),
      });
      const events = (await storage.turnLog.read(turn, 1)).map(
        ({ event }) => 'status' in event && event.status,
      );
      expect(events).toEqual(['pending', winner]);
      expect(await storage.elicitations.open(row, { perUser: 20 })).toBe('opened');
      expect(await storage.elicitations.settle('unknown', 'cancel', null)).toBe(false);
    });

    test('consent to what is still open is on the log, once', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      await storage.elicitations.open(row, { perUser: 20 });
      await Promise.all([storage.elicitations.noteConsent(row), other.elicitations.noteConsent(row)]);
      await storage.elicitations.settle(row.id, 'accept', null);
      await other.elicitations.noteConsent(row);
      const late = question(turn);
      await storage.elicitations.open(late, { perUser: 20 });
      await storage.elicitations.settle(late.id, 'decline', 'no');
      await storage.elicitations.noteConsent(late);
      const events = (await storage.turnLog.read(turn, 1)).map(({ event }) =>
        'status' in event ? event.status : event.type,
      );
      expect(events).toEqual(['pending', 'elicitation-consented', 'accept', 'pending', 'decline']);
    });

    test('whoever waits for the outcome has it as soon as it is written, by whatever process', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      await storage.elicitations.open(row, { perUser: 20 });
      const patient = new AbortController();
      const outcomes = [storage, other].map((one) => one.elicitations.untilSettled(row, patient.signal));
      await storage.elicitations.settle(row.id, 'decline', 'r');
      for (const outcome of await Promise.all(outcomes))
        expect(outcome).toMatchObject({ id: row.id, status: 'decline', responseId: 'r' });
      expect(await other.elicitations.untilSettled(row, patient.signal)).toMatchObject({ id: row.id });
    });

    test('whoever waits no longer for the outcome is told that there is none', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      await storage.elicitations.open(row, { perUser: 20 });
      const impatient = new AbortController();
      const outcome = storage.elicitations.untilSettled(row, impatient.signal);
      await storage.turnLog.append(turn, [{ key: 'else', event: { type: 'text-start', id: '0' } }]);
      impatient.abort();
      expect(await outcome).toBeNull();
      expect(await storage.elicitations.untilSettled(row, impatient.signal)).toBeNull();
    });

    test('a user has at most so many open questions, however many are opened at once', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const second = await begunTurn(storage, { tenant });
      const expired = question(turn, { deadline: Date.now() - 60_000 });
      await storage.elicitations.open(expired, { perUser: 3 });
      const questions = Array.from({ length: 10 }, (_, index) => question(index % 2 === 0 ? turn : second));
      const opened = await Promise.all(
        questions.map((row, index) =>
          (index % 3 === 0 ? storage : other).elicitations.open(row, { perUser: 3 }),
        ),
      );
      expect(opened.filter((answer) => answer === 'opened')).toHaveLength(3);
      const refused = questions[opened.indexOf('too-many-open')]!;
      expect(await storage.elicitations.get(refused.id)).toBeNull();
      expect(await storage.elicitations.open(question(turn, { user: 'bob' }), { perUser: 3 })).toBe('opened');

      await storage.elicitations.settle(questions[opened.indexOf('opened')]!.id, 'decline', null);
      expect(await storage.elicitations.open(refused, { perUser: 3 })).toBe('opened');
    });

    test('of a turn so many questions are open, and of its user more', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const other = await begunTurn(storage, { tenant: turn.tenant });
      const limits = { perUser: 3, perTurn: 2 };
      const open = async (of: typeof turn) => storage.elicitations.open(question(of), limits);
      const first = question(turn);
      expect(await storage.elicitations.open(first, limits)).toBe('opened');
      expect([await open(turn), await open(turn)]).toEqual(['opened', 'too-many-in-turn']);
      expect([await open(other), await open(other)]).toEqual(['opened', 'too-many-open']);
      await storage.elicitations.settle(first.id, 'decline', null);
      expect(await open(turn)).toBe('opened');
    });

    test('questions are found by conversation and status', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const first = question(turn);
      const second = question(turn);
      await storage.elicitations.open(first, { perUser: 20 });
      await storage.elicitations.open(second, { perUser: 20 });
      await storage.elicitations.settle(first.id, 'decline', 'r');
      const ids = async (
        ...status: Parameters<Elicitations['ofConversation']> extends [unknown, ...infer S] ? S : never
      ) => (await storage.elicitations.ofConversation(turn, ...status)).map(({ id }) => id).toSorted();
      expect(await ids()).toEqual([first.id, second.id].toSorted());
      expect(await ids('pending')).toEqual([second.id]);
      expect(await ids('decline')).toEqual([first.id]);
      expect(await ids('expired')).toEqual([]);
    });

    test('the questions that wait for an account are found in all conversations of its user', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const elsewhere = await begunTurn(storage, { tenant });
      const mine = [question(turn), question(elsewhere)];
      const bobs = question(turn, { user: 'bob' });
      const settled = question(turn);
      const form = question(turn, { server: null, seenVersion: null });
      for (const row of [...mine, bobs, settled, form, question(turn, { server: 'wiki' })]) {
        await storage.elicitations.open(row, { perUser: 20 });
      }
      await storage.elicitations.settle(settled.id, 'cancel', null);
      const pending = async (user: string | null) =>
        (await storage.elicitations.pendingFor({ tenant, server: 'tracker', user }))
          .map(({ id }) => id)
          .toSorted();
      expect(await pending('alice')).toEqual(mine.map(({ id }) => id).toSorted());
      expect(await pending(null)).toEqual([...mine, bobs].map(({ id }) => id).toSorted());
    });

    test('a question whose account was connected since it was asked is found', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const found = async () =>
        (await storage.elicitations.connectedButPending())
          .filter((row) => row.tenant === tenant)
          .map(({ id, version }) => [id, version]);
      const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
      const fresh = question(turn);
      await storage.elicitations.open(fresh, { perUser: 20 });
      expect(await found()).toEqual([]);
      await storage.connections.establish({ tenant, server: 'tracker', user: 'bob' }, secrets);
      expect(await found()).toEqual([]);
      await storage.connections.establish({ tenant, server: 'tracker', user: 'alice' }, secrets);
      const afterwards = question(turn, { seenVersion: 1 });
      await storage.elicitations.open(afterwards, { perUser: 20 });
      expect(await found()).toEqual([[fresh.id, 1]]);

      await storage.elicitations.settle(fresh.id, 'accept', null);
      expect(await found()).toEqual([]);
      const project = question(turn, { server: 'wiki' });
      await storage.elicitations.open(project, { perUser: 20 });
      await storage.connections.establish({ tenant, server: 'wiki', user: null }, secrets);
      expect(await found()).toEqual([[project.id, 1]]);
    });

    test('a question that is past its deadline is not looked for any more: its workflow has a clock of its own', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      await storage.elicitations.open(question(turn, { deadline: Date.now() - 60_000 }), { perUser: 20 });
      const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
      await storage.connections.establish({ tenant, server: 'tracker', user: 'alice' }, secrets);
      const found = await storage.elicitations.connectedButPending();
      expect(found.filter((row) => row.tenant === tenant)).toEqual([]);
    });

    test('a turn that ends closes the questions it left open, before it says that it is over', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const open = question(turn);
      const answered = question(turn);
      for (const row of [open, answered]) await storage.elicitations.open(row, { perUser: 20 });
      await storage.elicitations.settle(answered.id, 'decline', 'r');
      await Promise.all([storage.turns.end(turn, 'cancelled'), other.turns.end(turn, 'cancelled')]);
      expect(await storage.elicitations.get(open.id)).toMatchObject({ status: 'cancel', responseId: null });
      expect(await storage.elicitations.get(answered.id)).toMatchObject({ status: 'decline' });
      const events = (await storage.turnLog.read(turn, 4)).map(({ event }) => event);
      expect(events).toMatchObject([
        { type: 'elicitation-request', elicitationId: open.id, status: 'cancel' },
        { type: 'turn-ended', status: 'cancelled' },
      ]);
    });

    test.each([
      ['in Slack', { surface: 'slack' as const }, false, false],
      ['elsewhere', { surface: 'other' as const }, false, true],
      ['on the page that Slack led to', { surface: 'other' as const }, true, false],
      ['to an older API', {}, false, false],
    ])('an answer that was given %s', async (_, where, isLed, isElsewhere) => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      const { wasSettledElsewhere } = other.slack.questions;
      await storage.elicitations.open(row, { perUser: 20 });
      const answer = { responseId: 'r1', action: 'decline' as const, sealedContent: null, receivedAt: 5 };
      await storage.elicitations.storeAnswer(row.id, { ...answer, ...where });
      const opened = { at: 1, tenant: row.tenant, elicitationId: row.id, actor: row.user, detail: '' };
      if (isLed) await storage.audit.record({ ...opened, action: 'opened', address: null });
      await storage.elicitations.settle(row.id, 'decline', 'r1');
      expect(await wasSettledElsewhere(row.id)).toBe(isElsewhere);
      expect(await storage.elicitations.answer(row.id, 'r1')).toEqual({ ...answer, ...where });
    });

    test('nobody settles elsewhere what the clock or the end of the turn closes; an account is connected elsewhere', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      for (const [outcome, isElsewhere] of [
        ['expired', false],
        ['cancel', false],
        ['accept', true],
      ] as const) {
        const row = question(turn);
        await storage.elicitations.open(row, { perUser: 20 });
        expect(await storage.slack.questions.wasSettledElsewhere(row.id)).toBe(false);
        await storage.elicitations.settle(row.id, outcome, null);
        expect(await storage.slack.questions.wasSettledElsewhere(row.id)).toBe(isElsewhere);
      }
      expect(await storage.slack.questions.wasSettledElsewhere('unknown')).toBe(false);
    });

    test('an answer is remembered under its id, the first time it comes', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const row = question(turn);
      await storage.elicitations.open(row, { perUser: 20 });
      const answer = { responseId: 'r1', action: 'accept' as const, sealedContent: 'sealed', receivedAt: 5 };
      expect(await storage.elicitations.storeAnswer(row.id, answer)).toBe(true);
      expect(await storage.elicitations.storeAnswer(row.id, { ...answer, receivedAt: 6 })).toBe(false);
      expect(await storage.elicitations.answer(row.id, 'r1')).toEqual(answer);
      expect(await storage.elicitations.answer(row.id, 'r2')).toBeNull();
    });
  });
}
