/** What many followers of one conversation share, and that each still gets everything. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogEntry } from '../../../src/turn/event.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import type { TurnLog } from '../../../src/storage/log/turn-log.ts';
import { keyOfReset, keyOfOutput } from '../../../src/turn/event.ts';
import { heldBytes } from '../../held-bytes.ts';
import { begunTurn, step, story, text, upTo } from '../contract/fixtures.ts';
import { openCountedLog } from './counted-log.ts';
import type { CountedLog } from './counted-log.ts';

class Follower {
  readonly entries: LogEntry[] = [];
  readonly batches: number[] = [];
  readonly #stop = new AbortController();
  readonly #batches: AsyncIterator<LogEntry[]>;

  constructor(follow: TurnLog['follow'], turn: TurnRef, after = 0) {
    this.#batches = follow(turn, after, this.#stop.signal)[Symbol.asyncIterator]();
  }

  /** Takes one batch. */
  async pull(): Promise<void> {
    const { value } = await this.#batches.next();
    const batch: LogEntry[] = value ?? [];
    this.entries.push(...batch);
    this.batches.push(batch.length);
  }

  async until(seq: number): Promise<LogEntry[]> {
    while ((this.entries.at(-1)?.seq ?? 0) < seq) await this.pull();
    return this.entries;
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#batches.return?.();
  }
}

const seqsOf = (entries: LogEntry[]) => entries.map(({ seq }) => seq);
const from = (first: number, last: number) => upTo(last).slice(first - 1);

describe.each(['sqlite', 'postgres'] as const)('the tail of a conversation on %s', (kind) => {
  let log: CountedLog;
  beforeAll(async () => {
    log = await openCountedLog(kind);
  });
  afterAll(() => log[Symbol.asyncDispose]());

  test('what a repeated model call took back is kept for nobody who has not read it', async () => {
    const turn = await begunTurn(log.other);
    const said = (attempt: number, words: string[]): NewEvent[] => [
      { key: keyOfOutput(0, attempt, 0), event: { type: 'start-step', step: 0 } },
      ...words.map((delta, index) => text(keyOfOutput(0, attempt, index + 1), delta)),
    ];
    const [lagging, eager] = [new Follower(log.turnLog.follow, turn), new Follower(log.turnLog.follow, turn)];
    await Promise.all([lagging.until(1), eager.until(1)]);
    await log.turnLog.append(turn, said(1, ['one', 'two', 'three']));
    await eager.until(5);
    const reset: NewEvent = { key: keyOfReset(0, 2), event: { type: 'reset-step', step: 0 } };
    await log.turnLog.append(turn, [reset, ...said(2, ['four'])]);
    await eager.until(8);
    log.reads();
    const inside = new Follower(log.turnLog.follow, turn, 3);
    const types = ['reset-step', 'start-step', 'text-delta'];
    expect((await inside.until(8)).map(({ event }) => event.type)).toEqual(types);
    expect((await lagging.until(8)).map(({ event }) => event.type)).toEqual(['turn-started', ...types]);
    expect(log.reads(), 'from memory').toBe(0);
    expect(seqsOf(eager.entries)).toEqual(upTo(8));
    for (const follower of [lagging, eager, inside]) await follower.leave();
  });

  test('what the step before a repeated one said is kept for whoever has not read it', async () => {
    const turn = await begunTurn(log.other);
    const said = (number: number, attempt: number, words: string[]): NewEvent[] => [
      { key: keyOfOutput(number, attempt, 0), event: { type: 'start-step', step: number } },
      ...words.map((delta, index) => text(keyOfOutput(number, attempt, index + 1), delta)),
    ];
    const finish: NewEvent = { key: 'step/0/finish', event: { type: 'finish-step', step: 0 } };
    const again = (attempt: number): NewEvent[] => [
      { key: keyOfReset(1, attempt), event: { type: 'reset-step', step: 1 } },
      ...said(1, attempt, ['again']),
    ];
    const [lagging, eager] = [new Follower(log.turnLog.follow, turn), new Follower(log.turnLog.follow, turn)];
    await Promise.all([lagging.until(1), eager.until(1)]);
    await log.turnLog.append(turn, [...said(0, 1, ['one']), finish]);
    await eager.until(4);
    await log.turnLog.append(turn, said(1, 1, ['void']));
    // Read after it was deleted, and so never in memory.
    await log.turnLog.append(turn, again(2));
    await eager.until(9);
    await log.turnLog.append(turn, again(3));
    await eager.until(12);
    log.reads();
    const types = ['turn-started', 'start-step', 'text-delta', 'finish-step', 'reset-step', 'reset-step'];
    expect((await lagging.until(12)).map(({ event }) => event.type)).toEqual([
      ...types,
      'start-step',
      'text-delta',
    ]);
    expect(log.reads(), 'from memory').toBe(0);
    for (const follower of [lagging, eager]) await follower.leave();
  });

  test('a hundred followers cost as many reads as one', async () => {
    const turn = await begunTurn(log.other);
    const followers = upTo(100).map(() => new Follower(log.turnLog.follow, turn));
    await Promise.all(followers.map((follower) => follower.until(1)));
    const waiting = followers.map((follower) => follower.until(2));
    log.reads();
    await log.turnLog.append(turn, [step(2)]);
    await Promise.all(waiting);
    for (const seq of from(3, 22)) {
      const next = followers.map((follower) => follower.until(seq));
      await log.turnLog.append(turn, [step(seq)]);
      await Promise.all(next);
    }
    // Two where a hint comes twice: from the writer beside it, and through the database.
    expect(log.reads()).toBeLessThanOrEqual(2 * 21);
    for (const { entries } of followers) expect(seqsOf(entries)).toEqual(upTo(22));
    await Promise.all(followers.map((follower) => follower.leave()));
  });

  test('all followers share one subscription, which ends with the last of them and begins anew', async () => {
    const turn = await begunTurn(log.other);
    for (const round of [1, 2]) {
      const followers = upTo(5).map(() => new Follower(log.turnLog.follow, turn));
      await Promise.all(followers.map((follower) => follower.until(round)));
      expect(log.subscriptions()).toBe(1);
      const [last, ...others] = followers;
      await Promise.all(others.map((follower) => follower.leave()));
      expect(log.subscriptions()).toBe(1);
      const next = last!.until(round + 1);
      await log.turnLog.append(turn, [step(round)]);
      expect(seqsOf(await next)).toEqual(upTo(round + 1));
      await last!.leave();
      expect(log.subscriptions()).toBe(0);
    }
  });

  test('a follower that does not pull holds nobody up and is not kept for, and misses nothing', async () => {
    const turn = await begunTurn(log.other);
    const [fast, slow] = [new Follower(log.turnLog.follow, turn), new Follower(log.turnLog.follow, turn)];
    await Promise.all([fast.until(1), slow.until(1)]);
    const megabytes = 8;
    const said = (seq: number) => `${seq} `.padEnd(2 ** 16, '.');
    const seqs = from(2, 16 * megabytes);
    const before = await heldBytes();
    for (const seq of seqs) {
      const next = fast.until(seq);
      await log.turnLog.append(turn, [text(`${seq}`, said(seq))]);
      await next;
      fast.entries.length = 0;
    }
    expect((await heldBytes()) - before).toBeLessThan(4 * 2 ** 20);

    for (const seq of seqs) {
      slow.entries.length = 0;
      await slow.pull();
      // One entry fills a batch.
      expect(slow.entries).toMatchObject([{ seq, event: { delta: said(seq) } }]);
    }
    await Promise.all([fast.leave(), slow.leave()]);
  });

  test.each([
    { merged: [] },
    { merged: ['before anybody comes'] },
    { merged: ['while the window holds what is merged'] },
    { merged: ['while everybody reads'] },
    {
      merged: ['before anybody comes', 'while the window holds what is merged', 'while everybody reads'],
    },
  ])('a follower that comes to any place is told the rest, once; merged: $merged', async ({ merged }) => {
    const mergeIf = async (when: string) => {
      if (merged.includes(when)) await log.turnLog.merge(turn);
    };
    const turn = await begunTurn(log.other);
    const follow = log.follow({ entries: 4, bytes: 2 ** 30 });
    const delta = (seq: number) => text(`<${seq}>`);
    await log.turnLog.append(turn, from(2, 4).map(delta));
    await mergeIf('before anybody comes');
    // A stopped reader keeps the window from being emptied.
    const still = new Follower(follow, turn, 3);
    const first = new Follower(follow, turn);
    await Promise.all([still.until(4), first.until(4)]);
    for (const seq of from(5, 12)) {
      await log.turnLog.append(turn, [delta(seq)]);
      await first.until(seq);
    }
    await mergeIf('while the window holds what is merged');
    log.reads();
    const early = upTo(13).map((number) => new Follower(follow, turn, number - 1));
    await Promise.all(early.slice(0, 12).map((follower) => follower.pull()));
    // The window holds 9 to 12: whoever has read up to 8 needs no read of his own.
    expect(log.reads()).toBe(8);

    for (const seq of from(13, 15)) await log.turnLog.append(turn, [delta(seq)]);
    await mergeIf('while everybody reads');
    await log.turnLog.append(turn, [step(16)]);
    await first.until(16);
    const late = upTo(16).map((number) => new Follower(follow, turn, number - 1));
    await Promise.all([still, ...early, ...late].map((follower) => follower.until(16)));
    const whole = [first.entries[0]!.event, ...from(2, 15).map((seq) => delta(seq).event), step(16).event];
    const everybody = [...early.entries(), ...late.entries(), [0, first] as const, [3, still] as const];
    for (const [after, { entries }] of everybody) {
      const events = entries.map(({ event }) => event);
      expect(story(events), `after ${after}`).toEqual(story(whole.slice(after)));
      expect(events.some((event) => 'parts' in event)).toBe(false);
    }
    await Promise.all(everybody.map(([, follower]) => follower.leave()));
  });

  test('one hint is enough for more than one read can hold', async () => {
    const turn = await begunTurn(log.other);
    const followers = upTo(2).map(() => new Follower(log.turnLog.follow, turn));
    await Promise.all(followers.map((follower) => follower.until(1)));
    const next = followers.map((follower) => follower.until(1200));
    await log.turnLog.append(turn, from(2, 1200).map(step));
    for (const entries of await Promise.all(next)) expect(seqsOf(entries)).toEqual(upTo(1200));
    await Promise.all(followers.map((follower) => follower.leave()));
  });

  test('what everybody has read is not kept', async () => {
    const turn = await begunTurn(log.other);
    const followers = upTo(3).map(() => new Follower(log.turnLog.follow, turn));
    await Promise.all(followers.map((follower) => follower.until(1)));
    await log.turnLog.append(turn, from(2, 5).map(step));
    await Promise.all(followers.slice(1).map((follower) => follower.until(5)));
    const readsOfNewcomer = async () => {
      log.reads();
      const newcomer = new Follower(log.turnLog.follow, turn, 3);
      await newcomer.until(5);
      await newcomer.leave();
      return log.reads();
    };
    expect(await readsOfNewcomer()).toBe(0);
    await followers[0]!.until(5);
    expect(await readsOfNewcomer()).toBe(1);
    await Promise.all(followers.map((follower) => follower.leave()));
  });

  test('a database that is away is asked again by one for all, and nobody notices but by the time it takes', async () => {
    const turn = await begunTurn(log.other);
    let asked = 0;
    let isAway = false;
    const mended = Promise.withResolvers<void>();
    const follow = log.follow(undefined, (read) => async (ref, after) => {
      asked += 1;
      if (!isAway) return read(ref, after);
      if (asked === 3) {
        isAway = false;
        mended.resolve();
      }
      throw new Error('the database is away');
    });
    const followers = upTo(20).map(() => new Follower(follow, turn));
    await Promise.all(followers.map((follower) => follower.until(1)));
    const next = followers.map((follower) => follower.until(2));
    [asked, isAway] = [0, true];
    await log.turnLog.append(turn, [step(2)]);
    await mended.promise;
    await Promise.all(next);
    expect(asked).toBeLessThanOrEqual(6);
    for (const { entries } of followers) expect(seqsOf(entries)).toEqual([1, 2]);
    await Promise.all(followers.map((follower) => follower.leave()));
  });
});
