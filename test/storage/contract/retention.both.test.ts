/** What is deleted by age or on request, and what never is. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnData } from '../../../src/storage/schema/session-tables.ts';
import { turnWorkflowId } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { begunTurn, keptStep, text } from './fixtures.ts';
import { answer, formQuestion, open } from './question.ts';

const hourMs = 3_600_000;

/** A turn that has something of each kind. */
async function fullTurn(storage: Storage, given: Partial<NewTurn> = {}) {
  const id = randomUUID();
  const mediaType = 'image/png' as const;
  const turn = await begunTurn(storage, {
    clientMessageId: id,
    messages: [{ id, role: 'user', content: [{ type: 'stored-image', digest: 'd', mediaType, bytes: 1 }] }],
    images: [{ digest: 'd', mediaType, bytes: 1, data: 'AA==' }],
    ...given,
  });
  const call = { toolCallId: 'call', toolName: 'tracker__list', input: { state: 'open' } };
  await keptStep(storage, turn, { events: [text('said')], calls: [call] });
  const question = formQuestion(turn, { waiter: { toolCallId: 'call', workflowId: turnWorkflowId(turn) } });
  await open(storage, question);
  await answer(storage, question, 'accept', { responseId: 'r', sealedContent: 'sealed' });
  const effect = { workflowId: `${turnWorkflowId(turn)}/tool`, activityId: id };
  await storage.toolEffects.claim(effect, { turn, name: 'effect' });
  await storage.toolEffects.finish(effect, 'sealed');
  const kept = {
    log: async () => (await storage.turnLog.read(turn, 0)).map(({ event }) => event.type),
    answers: async () => (await storage.elicitations.recorded(question.id, 'r'))?.sealedContent,
    images: async () => (await storage.images.read([{ turnId: turn.turnId, digest: 'd' }])).length,
    state: () => storage.toolEffects.claim(effect, { turn, name: 'effect' }),
  };
  return { turn, question, kept, end: () => storage.turns.end(turn, 'completed', { isOwn: true }) };
}

/** Delivers what the ends of turns have queued. */
async function deliverAll({ storage, pass }: Clock): Promise<void> {
  pass(2 * hourMs);
  const marks = await storage.outbox.claim(100, 1);
  await storage.outbox.done(marks.map(({ id }) => id));
}

onEachDatabase((subject) => {
  describe('data by its age', () => {
    test.each<[TurnData, before: unknown, after: unknown]>([
      [
        'log',
        ['turn-started', 'text-delta', 'elicitation-request', 'elicitation-request', 'turn-ended'],
        ['turn-started', 'turn-ended'],
      ],
      ['answers', 'sealed', null],
      ['images', 1, 0],
      ['state', { kind: 'finished', sealed: 'sealed' }, { kind: 'finished', sealed: null }],
    ])(
      '%s: is deleted of turns that have been over for long enough, batch by batch',
      async (kind, before, after) => {
        await using clock = await openClock(subject());
        const { storage, other, pass } = clock;
        const { retention } = storage;
        const all = [await fullTurn(storage), await fullTurn(storage), await fullTurn(storage)];
        const [first, second, running] = all;
        await first?.end();
        pass(hourMs);
        await second?.end();
        const age = (ms: number) => storage.now() - ms;
        expect(await retention.deleteOfTurns(kind, age(hourMs), 10)).toBe(0);
        expect(await first?.kept[kind]()).toEqual(before);
        pass(1);
        expect(await retention.deleteOfTurns(kind, age(hourMs), 10)).toBe(1);
        expect(await first?.kept[kind]()).toEqual(after);
        expect(await second?.kept[kind]()).toEqual(before);
        pass(100 * hourMs);
        // Another process goes on where this one stopped.
        expect(await other.retention.deleteOfTurns(kind, age(hourMs), 1)).toBe(1);
        expect(await second?.kept[kind]()).toEqual(after);
        expect(await retention.deleteOfTurns(kind, age(0), 10)).toBe(0);
        await running?.end();
        expect(await running?.kept[kind]()).toEqual(before);
      },
    );

    test('turns: are deleted whole, with their conversation once it is empty; but not while one runs, nor before Temporal knows its end', async () => {
      await using clock = await openClock(subject());
      const { storage, other, pass } = clock;
      const [ended, running] = [await fullTurn(storage), await fullTurn(storage)];
      const unnotified = await begunTurn(storage);
      const { tenant, conversation } = ended.turn;
      await ended.end();
      await deliverAll(clock);
      await storage.turns.end(unnotified, 'cancelled');
      const last = await begunTurn(storage, { tenant, conversation });
      pass(hourMs);
      // The model of the live turn reads the messages of the ended one again in each step.
      expect(await other.retention.deleteTurns(storage.now(), 10)).toBe(0);
      expect(await storage.messages.list(ended.turn)).toMatchObject([
        { turnId: ended.turn.turnId },
        { turnId: last.turnId },
      ]);
      await storage.turns.end(last, 'completed', { isOwn: true });
      const lastEnded = storage.now();
      pass(1);
      expect(await other.retention.deleteTurns(lastEnded, 10)).toBe(1);
      expect(await storage.turns.get(ended.turn)).toBeNull();
      expect(await storage.elicitations.get(ended.question.id)).toBeNull();
      expect(await storage.messages.list(ended.turn)).toMatchObject([{ turnId: last.turnId }]);
      expect(await storage.turns.get(unnotified)).not.toBeNull();
      expect(await storage.turns.get(running.turn)).toMatchObject({ status: 'running' });
      // What people did stays in the audit.
      expect(await storage.audit.ofElicitation(ended.question.id)).toMatchObject([{ action: 'answered' }]);

      await deliverAll(clock);
      expect(await storage.retention.deleteTurns(storage.now(), 10)).toBe(2);
      expect(await storage.turns.conversation(last)).toBeNull();
      expect(await storage.turns.conversation(running.turn)).not.toBeNull();
    });

    test('entries of the audit are deleted, some at a time', async () => {
      await using clock = await openClock(subject());
      const { storage, pass } = clock;
      const elicitationId = randomUUID();
      const entry = { tenant: 'acme', elicitationId, actor: 'alice', detail: '', address: null };
      const record = () => storage.audit.record({ ...entry, at: storage.now(), action: 'opened' });
      for (const _ of [1, 2, 3]) await record();
      pass(hourMs);
      await record();
      // Not before they are in the chain, which keeps their hashes.
      expect(await storage.retention.deleteAudit(storage.now(), 2)).toBe(0);
      await storage.auditChain.seal();
      expect(await storage.retention.deleteAudit(storage.now(), 2)).toBe(2);
      expect(await storage.retention.deleteAudit(storage.now(), 2)).toBe(1);
      expect(await storage.retention.deleteAudit(storage.now(), 2)).toBe(0);
      expect(await storage.audit.ofElicitation(elicitationId)).toHaveLength(1);
      const chain = [];
      for await (const { entry } of storage.auditChain.read({})) chain.push(entry === null);
      expect(chain).toEqual([true, true, true, false]);
    });

    test('accounts are unused while their user neither connects nor begins a turn; shared ones never are', async () => {
      await using clock = await openClock(subject());
      const { storage, pass } = clock;
      const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
      const connect = (user: string | null) =>
        storage.connections.establish({ tenant: 'acme', server: 'tracker', user }, secrets);
      for (const user of ['alice', 'bob', 'carol', null]) await connect(user);
      const long = await begunTurn(storage, { tenant: 'acme', user: 'carol' });
      pass(hourMs);
      await begunTurn(storage, { tenant: 'acme', user: 'bob' });
      const unused = async () =>
        (await storage.retention.unusedConnections(storage.now(), 10)).map(({ user }) => user);
      expect(await unused()).toEqual(['alice']);
      await storage.turns.end(long, 'completed', { isOwn: true });
      expect(await unused()).toEqual(['alice', 'carol']);
      await connect('alice');
      expect(await unused()).toEqual(['carol']);
    });

    test('an account was used when a turn began that is deleted since', async () => {
      await using clock = await openClock(subject());
      const { storage, pass } = clock;
      const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
      await storage.connections.establish({ tenant: 'acme', server: 'tracker', user: 'alice' }, secrets);
      pass(2 * hourMs);
      const begun = storage.now();
      const turn = await begunTurn(storage, { tenant: 'acme', user: 'alice' });
      await storage.turns.end(turn, 'completed', { isOwn: true });
      await deliverAll(clock);
      expect(await storage.retention.deleteTurns(storage.now(), 10)).toBe(1);
      const unused = async (before: number) =>
        (await storage.retention.unusedConnections(before, 10)).map(({ user }) => user);
      expect(await unused(begun)).toEqual([]);
      expect(await unused(storage.now())).toEqual(['alice']);
    });

    test('what has expired is deleted, some at a time', async () => {
      await using clock = await openClock(subject());
      const { storage, pass } = clock;
      const expiresAt = storage.now() + 1;
      for (const _ of [1, 2, 3]) await storage.endedSessions.add({ idHash: randomUUID(), expiresAt });
      for (const at of [1, 2, 3]) await storage.erasure.note({ tenant: 'acme', user: 'alice', at });
      expect(await storage.retention.deleteExpired(2)).toBe(0);
      pass(hourMs);
      expect(await storage.retention.deleteExpired(2)).toBe(2);
      expect(await storage.retention.deleteExpired(2)).toBe(1);
      expect(await storage.retention.deleteExpired(2)).toBe(0);
      expect(await storage.retention.deleteErasures(3, 1)).toBe(1);
      expect(await storage.retention.deleteErasures(3, 2)).toBe(1);
      expect(await storage.erasure.list()).toMatchObject([{ at: 3 }]);
    });
  });

  describe('on request', () => {
    const deliveriesOf = () => ['slack-delivery/1'];
    const audit = {
      at: 1,
      tenant: 'acme',
      elicitationId: '',
      actor: 'alice',
      action: 'erased' as const,
      detail: 'conversation',
      address: null,
    };

    test('a conversation is deleted when none of its turns runs, and its histories are to be', async () => {
      await using clock = await openClock(subject());
      const { storage, other } = clock;
      const { turn, end } = await fullTurn(storage, { tenant: 'acme' });
      const kept = await fullTurn(storage, { tenant: 'acme' });
      const { tenant, conversation, turnId } = turn;
      const removal = { deliveriesOf, audit, erasedAt: 7 };
      const remove = (user = 'alice') =>
        other.erasure.removeConversation(turn, { ...removal, owner: { user } });
      expect(await remove()).toEqual({ kind: 'busy', turnId });
      expect(await storage.erasure.list()).toEqual([]);
      await end();
      await deliverAll(clock);
      // The caller has read the owner before, without a lock.
      expect(await remove('bob')).toEqual({ kind: 'missing' });
      expect(await storage.turns.get(turn)).not.toBeNull();
      const use = { tenant, user: 'alice', service: null, key: 'k', fingerprint: 'f', conversation };
      await storage.idempotencyKeys.claim({ ...use, clientMessageId: 'first' });
      const sessionId = randomUUID();
      const session = { id: sessionId, owner: 'alice', version: '', shows: { url: true, form: true } };
      await storage.mcpSessions.create({ ...session, expiresAt: storage.now() + hourMs });
      const call = { requestId: '1', conversation, turnId, tool: 't', progressToken: null };
      await storage.mcpSessions.addCall(sessionId, { ...call, idempotencyKey: null });
      expect(await remove()).toEqual({ kind: 'removed' });
      expect(await storage.mcpSessions.findCall(sessionId, '1')).toBeNull();
      const again = await storage.idempotencyKeys.claim({ ...use, clientMessageId: 'second' });
      expect(again.clientMessageId).toBe('second');
      expect(await remove()).toEqual({ kind: 'missing' });
      expect(await storage.turns.conversation(turn)).toBeNull();
      expect(await storage.messages.list(turn)).toEqual([]);
      expect(await storage.exports.entriesOf(turnId)).toEqual([]);
      expect(await storage.turns.get(kept.turn)).not.toBeNull();
      expect(await storage.erasure.list()).toEqual([{ tenant, conversation, at: 7 }]);
      expect(await storage.outbox.claim(10, 1, 'others')).toEqual([]);
      const marks = await storage.outbox.claim(10, 1, 'forget');
      expect(marks.map((mark) => 'workflowId' in mark && [mark.kind, mark.workflowId]).toSorted()).toEqual([
        ['forget', 'slack-delivery/1'],
        ['forget', turnWorkflowId(turn)],
      ]);
      // An attempt that is still under way stops, and does not fail again and again.
      await expect(storage.turnLog.append(turn, [text('late')])).rejects.toMatchObject({
        name: 'WriteRefused',
        reason: 'turn-ended',
      });
    });

    test('of a user, links, approvals and sessions go, and of audit entries all but their hashes', async () => {
      await using clock = await openClock(subject());
      const { storage } = clock;
      const alice = { tenant: 'acme', user: 'alice' };
      const elicitationId = randomUUID();
      const entry = { tenant: 'acme', elicitationId, detail: 'accept', address: '192.0.2.1', at: 1 };
      for (const actor of ['alice', 'key 1 for alice', 'key 1 for malice', 'bob'])
        await storage.audit.record({ ...entry, actor, action: 'answered' });
      await storage.slack.people.link({ team: 'T', slackUser: 'U', ...alice, linkedAt: 1 });
      const tool = { server: 's', place: 'p', tool: 't', definition: '' };
      await storage.approvals.remember({ id: randomUUID(), ...alice, ...tool, conversation: null });
      const session = { version: '', shows: { url: true, form: true }, expiresAt: storage.now() + 1 };
      for (const id of ['alice', 'bob'])
        await storage.mcpSessions.create({ ...session, id: `${elicitationId}/${id}`, owner: id });
      await storage.auditChain.seal();
      await storage.erasure.removeUser(alice, (owner) => owner === 'alice');

      expect(await storage.slack.people.ofUser(alice)).toEqual([]);
      expect(await storage.approvals.list(alice)).toEqual([]);
      const found = (id: string) => storage.mcpSessions.find(`${elicitationId}/${id}`, 0);
      expect([await found('alice'), (await found('bob'))?.owner]).toEqual([null, 'bob']);
      const entries = await storage.audit.ofElicitation(elicitationId);
      expect(entries.map(({ actor }) => actor).toSorted()).toEqual(['bob', 'key 1 for malice']);
    });
  });
});
