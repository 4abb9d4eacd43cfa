import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { NewSlackDelivery } from '../../../src/storage/tables/slack-deliveries.ts';
import type { SlackMessageRow } from '../../../src/storage/schema/slack-tables.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';

onEachDatabase((subject) => {
  describe('answers in Slack', () => {
    const make = (): NewSlackDelivery => ({
      turn: { tenant: 'acme', conversation: randomUUID(), turnId: randomUUID() },
      team: `T${randomUUID()}`,
      channel: 'C1',
      threadTs: '1.000001',
      slackUser: 'U1',
    });
    const messageOf = (
      { turn, team, channel }: NewSlackDelivery,
      more: Partial<SlackMessageRow> = {},
    ): SlackMessageRow => ({
      turnId: turn.turnId,
      number: 1,
      team,
      channel,
      ts: null,
      kind: 'text',
      subject: '0',
      begins: 0,
      ends: 12,
      digest: 'd1',
      isSure: false,
      isOpen: true,
      isStream: true,
      startedAt: 1_700_000_000_000,
      ...more,
    });

    test('a delivery is begun once, and streams until Slack refuses it', async () => {
      const { storage, other } = subject();
      const { deliveries } = storage.slack;
      const one = make();
      expect(await deliveries.get(one.turn.turnId)).toBeNull();
      await Promise.all([deliveries.begin(one), other.slack.deliveries.begin({ ...one, channel: 'C1' })]);
      expect(await other.slack.deliveries.get(one.turn.turnId)).toEqual({ ...one, streams: true });
      await deliveries.stopStreaming(one.turn.turnId);
      await other.slack.deliveries.begin({ ...one, channel: 'C2' });
      expect(await other.slack.deliveries.get(one.turn.turnId)).toEqual({ ...one, streams: false });
    });

    test('messages come back as they were written, in the order of the thread, each turn its own', async () => {
      const { storage, other } = subject();
      const { deliveries } = storage.slack;
      const [one, another] = [make(), make()];
      for (const delivery of [one, another]) {
        await deliveries.begin(delivery);
        await deliveries.hold(delivery.turn.turnId, 'h');
      }
      const [first, second, tenth] = [
        messageOf(one),
        messageOf(one, { number: 2, kind: 'question', subject: randomUUID(), isStream: false }),
        messageOf(one, { number: 10, kind: 'end', subject: 'end', ts: '5.1', isSure: true, isOpen: false }),
      ];
      for (const message of [tenth, second, first, messageOf(another)])
        expect(await deliveries.put('h', message)).toBe(true);
      expect(await other.slack.deliveries.messages(one.turn.turnId)).toEqual([first, second, tenth]);
      const posted = {
        ...first,
        ts: '3.1',
        isSure: true,
        isOpen: false,
        isStream: false,
        ends: 40,
        digest: 'd2',
      };
      expect(await deliveries.put('h', posted)).toBe(true);
      expect(await deliveries.drop('h', second)).toBe(true);
      expect(await other.slack.deliveries.messages(one.turn.turnId)).toEqual([posted, tenth]);
      expect(await deliveries.messages(another.turn.turnId)).toEqual([messageOf(another)]);
    });

    test('whoever took a delivery over last is the only one who can write', async () => {
      const { storage, other } = subject();
      const [dead, alive] = [storage.slack.deliveries, other.slack.deliveries];
      const one = make();
      const { turnId } = one.turn;
      await dead.begin(one);
      expect(await dead.put('dead', messageOf(one))).toBe(false);
      await dead.hold(turnId, 'dead');
      expect(await dead.put('dead', messageOf(one))).toBe(true);
      await alive.hold(turnId, 'alive');
      expect(await dead.put('dead', messageOf(one, { digest: 'late' }))).toBe(false);
      expect(await dead.put('dead', messageOf(one, { number: 2 }))).toBe(false);
      expect(await dead.drop('dead', messageOf(one))).toBe(false);
      expect(await alive.messages(turnId)).toEqual([messageOf(one)]);
      expect(await alive.drop('alive', messageOf(one))).toBe(true);
      expect(await alive.messages(turnId)).toEqual([]);
    });

    test('many attempts at once: the rows are those of the one that holds it', async () => {
      const { storage, other } = subject();
      const one = make();
      const { turnId } = one.turn;
      await storage.slack.deliveries.begin(one);
      const attempts = Array.from({ length: 8 }, (_, index) => `attempt ${index}`);
      await Promise.all(
        attempts.map(async (holder, index) => {
          const { deliveries } = (index % 2 === 0 ? storage : other).slack;
          await deliveries.hold(turnId, holder);
          for (let number = 1; number <= 4; number += 1)
            await deliveries.put(holder, messageOf(one, { number, digest: holder }));
        }),
      );
      const holders: string[] = [];
      for (const holder of attempts)
        if (await other.slack.deliveries.put(holder, messageOf(one, { number: 5, digest: holder })))
          holders.push(holder);
      expect(holders).toHaveLength(1);
      const rows = await storage.slack.deliveries.messages(turnId);
      expect(rows.map(({ number, digest }) => [number, digest])).toEqual(
        [1, 2, 3, 4, 5].map((number) => [number, holders[0]]),
      );
    });

    test('a message is found by its place, and a question by its id', async () => {
      const { storage, other } = subject();
      const { deliveries } = storage.slack;
      const [one, elicitationId] = [make(), randomUUID()];
      const { team, channel } = one;
      await deliveries.begin(one);
      await deliveries.hold(one.turn.turnId, 'h');
      const question = messageOf(one, { number: 2, kind: 'question', subject: elicitationId, ts: '7.1' });
      await deliveries.put('h', messageOf(one, { subject: elicitationId, ts: '6.1' }));
      await deliveries.put('h', question);
      expect(await other.slack.deliveries.ofQuestion(elicitationId)).toEqual(question);
      expect(await deliveries.ofQuestion(randomUUID())).toBeNull();
      expect(await other.slack.deliveries.isOurs({ team, channel, ts: '7.1' })).toBe(true);
      for (const place of [
        { team, channel, ts: '7.2' },
        { team, channel: 'C2', ts: '7.1' },
        { team: 'T', channel, ts: '7.1' },
      ])
        expect(await deliveries.isOurs(place)).toBe(false);
    });

    test('the answers of a conversation have an order, in which none waits for one that is over or whose workflow is gone', async () => {
      await using clock = await openClock(subject());
      const [here, there] = [clock.storage.slack.deliveries, clock.other.slack.deliveries];
      const one = make();
      const next = () => ({ ...one, turn: { ...one.turn, turnId: randomUUID() } });
      const [second, third] = [next(), next()];
      await here.begin(one);
      await there.begin(second);
      await here.begin(make());
      await there.begin(third);
      // Again: it keeps its place.
      await there.begin(one);
      const [first, middle, last] = [one, second, third].map(({ turn }) => turn.turnId);
      const before = (turnId = '') => there.earlier(turnId, 1_000);
      expect(await before(first)).toEqual([]);
      expect(await before(middle)).toEqual([first]);
      expect(await before(last)).toEqual([first, middle]);
      await here.end(middle ?? '');
      expect(await before(last)).toEqual([first]);
      clock.pass(900);
      await here.hold(first ?? '', 'h');
      clock.pass(900);
      expect(await before(last)).toEqual([first]);
      clock.pass(100);
      expect(await before(last)).toEqual([]);
      expect(await before(randomUUID())).toEqual([]);
    });

    test('deliveries go with the workspace that is removed, and no other', async () => {
      const { storage, other } = subject();
      const [one, another] = [make(), make()];
      for (const delivery of [one, another]) {
        await storage.slack.deliveries.begin(delivery);
        await storage.slack.deliveries.hold(delivery.turn.turnId, 'h');
        await storage.slack.deliveries.put('h', messageOf(delivery));
      }
      await other.slack.installations.remove(one.team);
      expect(await storage.slack.deliveries.get(one.turn.turnId)).toBeNull();
      expect(await storage.slack.deliveries.messages(one.turn.turnId)).toEqual([]);
      expect(await storage.slack.deliveries.put('h', messageOf(one))).toBe(false);
      expect(await storage.slack.deliveries.messages(another.turn.turnId)).toEqual([messageOf(another)]);
    });
  });
});
