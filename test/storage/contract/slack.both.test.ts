import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { NewSlackEvent } from '../../../src/storage/tables/slack-events.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';

onEachDatabase((subject) => {
  describe('Slack', () => {
    const team = () => `T${randomUUID()}`;
    const make = (of: string, ts: string, more: Partial<NewSlackEvent> = {}): NewSlackEvent => ({
      team: of,
      eventId: `Ev${ts}`,
      slackUser: 'U1',
      lane: 'C1/1/U1',
      ts,
      sealed: 'sealed',
      ...more,
    });

    test('events are kept once, whichever process they reach', async () => {
      const { storage, other } = subject();
      const one = make(team(), '1.0');
      const added = await Promise.all([storage.slack.events.add(one), other.slack.events.add(one)]);
      expect(added.toSorted()).toEqual([false, true]);
      await other.slack.events.finish(one);
      expect(await storage.slack.events.add(one)).toBe(false);
      expect(await storage.slack.events.add({ ...one, team: team() })).toBe(true);
    });

    test('events are leased to one process, in the order of their lane, and fall to another when the lease runs out', async () => {
      await using clock = await openClock(subject());
      const { events } = clock.storage.slack;
      const acme = team();
      const [first, second, elsewhere] = [
        make(acme, '1.0'),
        make(acme, '2.0'),
        make(acme, '3.0', { lane: 'C2' }),
      ];
      for (const event of [second, first, elsewhere]) await events.add(event);
      const ids = (claimed: { eventId: string }[]) => claimed.map(({ eventId }) => eventId).toSorted();
      expect(ids(await events.claim(10, 1_000))).toEqual(['Ev1.0', 'Ev3.0']);
      expect(await clock.other.slack.events.claim(10, 1_000)).toEqual([]);
      clock.pass(1_000);
      const again = await clock.other.slack.events.claim(10, 1_000);
      expect(again.map(({ eventId, tries }) => [eventId, tries]).toSorted()).toEqual([
        ['Ev1.0', 2],
        ['Ev3.0', 2],
      ]);
      await events.finish(first);
      await events.postpone(elsewhere, 5_000);
      expect(await events.claim(10, 1_000)).toMatchObject([{ ...second, tries: 1 }]);
      clock.pass(2_000);
      expect(ids(await events.claim(10, 1_000))).toEqual(['Ev2.0']);
      clock.pass(3_000);
      expect(ids(await events.claim(10, 1_000))).toEqual(['Ev2.0', 'Ev3.0']);
    });

    test('a lease that is renewed keeps others away, and one that is done with stays done', async () => {
      await using clock = await openClock(subject());
      const { events } = clock.storage.slack;
      const [busy, over] = [make(team(), '1.0'), make(team(), '1.0', { lane: 'x' })];
      for (const event of [busy, over]) await events.add(event);
      expect(await events.claim(10, 1_000)).toHaveLength(2);
      await events.finish(over);
      clock.pass(900);
      await events.renew([busy, over], 1_000);
      clock.pass(900);
      expect(await events.claim(10, 1_000)).toEqual([]);
      clock.pass(100);
      expect(await events.claim(10, 1_000)).toMatchObject([{ team: busy.team }]);
    });

    test('parked events wait for their sender only, and what is old is forgotten', async () => {
      await using clock = await openClock(subject());
      const { events } = clock.storage.slack;
      const acme = team();
      const [mine, theirs] = [make(acme, '1.0'), make(acme, '2.0', { slackUser: 'U2', lane: 'x' })];
      for (const event of [mine, theirs]) await events.add(event);
      const [one] = await events.claim(10, 1_000);
      for (const event of [mine, theirs]) await events.park(event);
      clock.pass(10_000);
      expect(await events.claim(10, 1_000)).toEqual([]);
      expect(await events.waitsInLane(mine)).toBe(true);
      expect(await events.waitsInLane({ team: acme, lane: 'other' })).toBe(false);
      const since = one?.receivedAt ?? 0;
      expect(await events.unpark({ team: acme, slackUser: 'U1' }, since + 1)).toBe(0);
      expect(await events.unpark({ team: acme, slackUser: 'U1' }, since)).toBe(1);
      expect(await events.claim(10, 1_000)).toMatchObject([{ eventId: 'Ev1.0' }]);
      await events.forget(since + 1);
      expect(await events.add(mine)).toBe(true);
    });

    test('a workspace that is removed takes its people and threads with it', async () => {
      const { storage, other } = subject();
      const { installations, people, threads } = storage.slack;
      const [acme, globex] = [team(), team()];
      const installed = { teamName: 'Acme', tenant: acme, botUser: 'UB', scopes: '', installedBy: null };
      const person = { slackUser: 'U1', tenant: acme, user: 'alice', linkedAt: 1 };
      for (const one of [acme, globex]) {
        await installations.put({ ...installed, team: one, sealed: 'old' });
        await installations.put({ ...installed, team: one, sealed: 'new' });
        await people.link({ ...person, team: one });
        await threads.setAgent(one, 'C1', 'helper');
      }
      expect(await other.slack.installations.get(acme)).toMatchObject({ team: acme, sealed: 'new' });
      expect(await people.ofUser({ tenant: acme, user: 'alice' })).toHaveLength(2);
      await installations.remove(acme);
      expect(await installations.list(acme)).toMatchObject([{ team: globex }]);
      expect(await people.get({ team: acme, slackUser: 'U1' })).toBeNull();
      expect(await threads.agentOf(acme, 'C1')).toBeNull();
      expect(await threads.agentOf(globex, 'C1')).toBe('helper');
      await threads.setAgent(globex, 'C1', null);
      expect(await threads.agentOf(globex, 'C1')).toBeNull();
    });

    test('each person of a thread has one conversation, until they are unlinked', async () => {
      const { storage, other } = subject();
      const key = { team: team(), channel: 'C1', threadTs: '1.0', slackUser: 'U1' };
      const thread = { ...key, tenant: 'acme', conversation: randomUUID(), agent: 'helper' };
      await storage.slack.threads.begin(thread);
      expect(await other.slack.threads.begin({ ...thread, conversation: 'c2' })).toEqual(thread);
      expect(await other.slack.threads.ofConversation(thread)).toEqual(thread);
      const bobs = { ...thread, slackUser: 'U2', conversation: randomUUID() };
      await storage.slack.threads.begin(bobs);
      await storage.slack.people.unlink(key);
      expect(await storage.slack.threads.get(key)).toBeNull();
      expect(await storage.slack.threads.get(bobs)).toEqual(bobs);
      await storage.slack.threads.remove(bobs);
      expect(await storage.slack.threads.get(bobs)).toBeNull();
    });

    test('tickets are used once, in time, for their purpose, and the newest of a person counts', async () => {
      await using clock = await openClock(subject());
      const { tickets } = clock.storage.slack;
      const person = { team: team(), slackUser: 'U1' };
      const issue = async () => {
        const digest = randomUUID();
        const expiresAt = Date.now() + 60_000;
        await tickets.issue({ ...person, digest, purpose: 'link', expiresAt });
        return digest;
      };
      const [replaced, newest] = [await issue(), await issue()];
      expect(await tickets.find(replaced, 'link')).toBeNull();
      expect(await tickets.find(newest, 'install')).toBeNull();
      expect(await tickets.find(newest, 'link')).toMatchObject(person);
      expect(await tickets.until(person)).toBeGreaterThan(Date.now());
      const used = await Promise.all([tickets.use(newest), clock.other.slack.tickets.use(newest)]);
      expect(used.toSorted()).toEqual([false, true]);
      expect(await tickets.until(person)).toBeNull();
      const late = await issue();
      clock.pass(120_000);
      expect(await tickets.find(late, 'link')).toBeNull();
      expect(await tickets.use(late)).toBe(false);
    });
  });
});
