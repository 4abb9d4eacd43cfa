import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { NewQuestion } from '../../../src/storage/tables/elicitation-rows.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { turnWorkflowId } from '../../../src/turn/turn.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import type { DatabaseConfig } from '../contract.ts';
import { nextMillisecond, openClock } from './clock.ts';
import { begunTurn, ending, firstAttempt, keptStep, newTurn, refuseWhileBusy } from './fixtures.ts';
import { answer, form, formQuestion, open, question } from './question.ts';

type Live = TurnRef & { tenant: string };

const asks = (turn: TurnRef, toolCallId: string, given: Partial<NewQuestion> = {}) =>
  formQuestion(turn, { waiter: { toolCallId, workflowId: workflowOf(turn, toolCallId) }, ...given });
const calls = (...ids: string[]) =>
  ids.map((toolCallId) => ({ toolCallId, toolName: 'tracker__list', input: {} }));
const message = ({ tenant, conversation }: TurnRef) => newTurn({ tenant, conversation });
const workflowOf = ({ turnId }: TurnRef, toolCallId: string) => `${turnId}/tool/${toolCallId}`;
const effectOf = (turn: TurnRef, toolCallId: string) => ({
  workflowId: workflowOf(turn, toolCallId),
  activityId: '1',
});

/** What is under way, or still to be done, in a turn: a new message does not take its place. */
const busy: Record<string, (storage: Storage, turn: Live) => Promise<unknown>> = {
  'before its first step': () => Promise.resolve(),
  'whose call asks nothing': (storage, turn) => keptStep(storage, turn, { calls: calls('c1') }),
  'one of whose calls asks nothing': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1', 'c2') });
    await open(storage, asks(turn, 'c1'));
  },
  'whose question was declined': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    const row = asks(turn, 'c1');
    await open(storage, row);
    await answer(storage, row, 'decline');
  },
  'one of whose answers is not acted on': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    const rows = [asks(turn, 'c1'), asks(turn, 'c1')] as const;
    await open(storage, [...rows]);
    await answer(storage, rows[0]);
  },
  'whose account is connected, which a call has not noticed': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    const waiter = { toolCallId: 'c1', workflowId: 'turn/c1' };
    await open(storage, [question(turn, { waiter }), asks(turn, 'c1')]);
    const secrets = { store: 'oauth', account: null, scopes: [], sealed: 's', freshUntil: null };
    await storage.connections.establish({ tenant: turn.tenant, server: 'tracker', user: 'alice' }, secrets);
  },
  'whose delegated agent takes a step': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1', 'c2') });
    await open(storage, asks(turn, 'c2'));
    const delegation = { toolCallId: 'c1', path: ['editor'] };
    await keptStep(storage, { ...turn, delegation }, { calls: [] });
  },
  'one of whose delegated agents asks nothing': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1', 'c2') });
    for (const toolCallId of ['c1', 'c2'])
      await keptStep(
        storage,
        { ...turn, delegation: { toolCallId, path: ['editor'] } },
        { calls: calls(`${toolCallId}/1`) },
      );
    await open(storage, asks(turn, 'c1/1'));
  },
  'whose tool has an effect under way': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    await open(storage, asks(turn, 'c1'));
    await storage.toolEffects.claim(effectOf(turn, 'c1'), { turn, name: 'send' });
  },
  'that is to stop': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    await open(storage, asks(turn, 'c1'));
    await storage.turns.cancel(turn);
  },
};

const waiting: Record<string, (storage: Storage, turn: Live) => Promise<unknown>> = {
  'for an answer': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    await open(storage, asks(turn, 'c1'));
  },
  'for an account that its calls share': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1', 'c2') });
    const shared = question(turn, { waiter: { toolCallId: 'c1', workflowId: null } });
    await open(storage, shared);
    await open(storage, { ...shared, waiter: { toolCallId: 'c2', workflowId: null } });
  },
  'in a delegated agent, and beside it': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1', 'c2') });
    await keptStep(
      storage,
      { ...turn, delegation: { toolCallId: 'c1', path: ['editor'] } },
      { calls: calls('c1/1') },
    );
    await open(storage, asks(turn, 'c1/1'));
    await open(storage, asks(turn, 'c2'));
  },
  'for the next answer, after it acted on one': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    const row = asks(turn, 'c1');
    await open(storage, row);
    await answer(storage, row);
    await nextMillisecond(storage);
    await open(storage, asks(turn, 'c1'));
  },
  'for one answer, after it acted on another by an effect': async (storage, turn) => {
    await keptStep(storage, turn, { calls: calls('c1') });
    const rows = [asks(turn, 'c1'), asks(turn, 'c1')] as const;
    await open(storage, [...rows]);
    await answer(storage, rows[0]);
    await nextMillisecond(storage);
    await storage.toolEffects.claim(effectOf(turn, 'c1'), { turn, name: 'send' });
    await storage.toolEffects.finish(effectOf(turn, 'c1'), 'sealed');
  },
};

async function openStorageAt(database: DatabaseConfig, aheadMs: number) {
  const storage = await openStorage(database, { now: () => Date.now() + aheadMs });
  return { storage, [Symbol.asyncDispose]: () => storage.close() };
}

onEachDatabase((subject) => {
  describe('a new message', () => {
    test.each(Object.entries(busy))(
      'leaves a turn alone %s, and ends it only if it is to',
      async (_, work) => {
        const { storage, other } = subject();
        const turn = await begunTurn(storage);
        await work(storage, turn);
        const before = await storage.turnLog.read(turn, 0);
        const row = await storage.turns.get(turn);
        const isEnding = row?.endingAt !== null;
        const refused = message(turn);
        expect(await other.turns.prepare(refused, refuseWhileBusy)).toEqual({
          kind: 'busy',
          turnId: turn.turnId,
          isEnding,
        });
        expect(await storage.turns.get(refused)).toBeNull();
        expect(await storage.turns.get(turn)).toEqual(row);
        expect(await storage.turnLog.read(turn, 0)).toEqual(before);
        expect(await other.turns.prepare(refused, ending)).toMatchObject({
          kind: 'prepared',
          replaced: { turnId: turn.turnId, status: 'cancelled' },
        });
        expect(await storage.elicitations.ofConversation(turn, 'pending')).toEqual([]);
      },
    );

    test.each(Object.entries(waiting))('takes the place of a turn that waits %s', async (_, work) => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await work(storage, turn);
      expect(await other.turns.prepare(message(turn), refuseWhileBusy)).toMatchObject({
        kind: 'prepared',
        replaced: { turnId: turn.turnId, status: 'superseded', endedAt: expect.any(Number) },
      });
      expect(await storage.elicitations.ofConversation(turn, 'pending')).toEqual([]);
      expect(await storage.toolCalls.unfinished(turn)).toEqual([]);
      const { event } = (await storage.turnLog.read(turn, 0)).at(-1) ?? {};
      expect(event).toMatchObject({ type: 'turn-ended', status: 'superseded' });
    });

    test('finds what is to be acted on where the clocks of processes differ a little', async () => {
      const { fresh } = subject();
      const database = await fresh();
      await using behind = await openStorageAt(database, -400);
      await using ahead = await openStorageAt(database, 0);
      const answered = async (opens: Storage, answers: Storage) => {
        const turn = await begunTurn(opens);
        await keptStep(opens, turn, { calls: calls('c1') });
        const rows = [asks(turn, 'c1'), asks(turn, 'c1')] as const;
        await open(opens, [...rows]);
        await answer(answers, rows[0]);
        return { turn, row: rows[0] };
      };
      const { turn } = await answered(ahead.storage, behind.storage);
      expect(await behind.storage.turns.prepare(message(turn), refuseWhileBusy)).toMatchObject({
        kind: 'busy',
      });

      const asked = await answered(behind.storage, ahead.storage);
      await open(behind.storage, asks(asked.turn, 'c1'));
      const acted = await answered(behind.storage, ahead.storage);
      const effect = effectOf(acted.turn, 'c1');
      await behind.storage.toolEffects.claim(effect, { turn: acted.turn, name: 'send' });
      await behind.storage.toolEffects.finish(effect, 'sealed');
      for (const { turn: one, row } of [asked, acted]) {
        expect(await ahead.storage.turns.prepare(message(one), refuseWhileBusy)).toMatchObject({
          kind: 'prepared',
        });
        expect(await ahead.storage.elicitations.get(row.id)).toMatchObject({ isUnused: false });
      }
    });

    test('leaves a turn alone that has not begun', async () => {
      const { storage } = subject();
      const turn = newTurn();
      await storage.turns.prepare(turn, refuseWhileBusy);
      expect(await storage.turns.prepare(message(turn), refuseWhileBusy)).toMatchObject({ kind: 'busy' });
      expect(await storage.turns.prepare(message(turn), ending)).toMatchObject({ kind: 'prepared' });
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'cancelled' });
      expect(await storage.turns.begin(turn)).toBe(false);
    });

    test('writes the end, the cancellation and the abandonment together, and its results', async () => {
      await using at = await openClock(subject());
      const { storage } = at;
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls: calls('c1') });
      await storage.toolCalls.start(turn, 'c1', firstAttempt);
      await storage.toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 's' }, 'paused', firstAttempt);
      const row = asks(turn, 'c1');
      await open(storage, row);
      const failing = { ...refuseWhileBusy, resultOf: () => { throw new Error('no words'); } }; // prettier-ignore
      await expect(storage.turns.prepare(message(turn), failing)).rejects.toThrow('no words');
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
      expect(at.marks).toEqual([]);
      expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'pending' });

      await storage.turns.prepare(message(turn), refuseWhileBusy);
      const { tenant, conversation, turnId } = turn;
      const ref = { tenant, conversation, turnId };
      expect(at.marks).toEqual([
        { id: expect.any(String), kind: 'abandon', turn: ref },
        { id: expect.any(String), kind: 'cancel', workflowId: turnWorkflowId(turn), turn: ref },
      ]);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toHaveLength(1);
      await storage.toolCalls.forgetRounds(turn);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([]);
      expect((await storage.messages.list(turn)).at(-1)).toMatchObject({
        id: 'unfinished/c1',
        content: 'superseded',
      });
    });

    test('at the same moment as another one makes one turn, and so does one that is sent twice', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 20; round++) {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls: calls('c1') });
        await open(storage, asks(turn, 'c1'));
        const first = message(turn);
        const racing =
          round % 2 === 0
            ? [message(turn), message(turn)]
            : [first, { ...message(turn), clientMessageId: first.clientMessageId }];
        const prepared = await Promise.all(
          racing.map((one, index) => (index === 0 ? storage : other).turns.prepare(one, refuseWhileBusy)),
        );
        const kinds = prepared.map(({ kind }) => kind).toSorted();
        expect(kinds).toEqual(round % 2 === 0 ? ['busy', 'prepared'] : ['known', 'prepared']);
      }
    });

    test('and an answer at the same moment: one of them counts', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 20; round++) {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls: calls('c1') });
        const row = asks(turn, 'c1');
        await open(storage, row);
        const [answered, prepared] = await Promise.all([
          answer(round % 2 === 0 ? storage : other, row),
          (round % 2 === 0 ? other : storage).turns.prepare(message(turn), refuseWhileBusy),
        ]);
        expect([answered.question.status, prepared.kind]).toBeOneOf([
          ['accept', 'busy'],
          ['cancel', 'prepared'],
        ]);
      }
    });

    test('and an opening question at the same moment leave no question open in an ended turn', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 20; round++) {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls: calls('c1') });
        await open(storage, asks(turn, 'c1'));
        const [, prepared] = await Promise.all([
          open(storage, asks(turn, 'c1')),
          other.turns.prepare(message(turn), refuseWhileBusy),
        ]);
        expect(prepared).toMatchObject({ kind: 'prepared' });
        expect(await storage.elicitations.ofConversation(turn, 'pending')).toEqual([]);
      }
    });

    test('and an effect that begins at the same moment: one of them is refused', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 20; round++) {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls: calls('c1') });
        await open(storage, asks(turn, 'c1'));
        const effect = { workflowId: `turn/${turn.turnId}/c1`, activityId: '1' };
        const [claimed, prepared] = await Promise.allSettled([
          storage.toolEffects.claim(effect, { turn, name: 'send' }),
          other.turns.prepare(message(turn), refuseWhileBusy),
        ]);
        const kind = prepared.status === 'fulfilled' && prepared.value.kind;
        expect([claimed.status, kind]).toBeOneOf([
          ['fulfilled', 'busy'],
          ['rejected', 'prepared'],
        ]);
      }
    });
  });

  describe('an accepted answer whose turn ended first', () => {
    const ended = async (work: (storage: Storage, turn: Live, row: NewQuestion) => Promise<unknown>) => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls: calls('c1') });
      const row = asks(turn, 'c1');
      await open(storage, row);
      await answer(storage, row);
      await nextMillisecond(storage);
      await work(storage, turn, row);
      await storage.turns.end(turn, 'cancelled');
      return storage.elicitations.get(row.id);
    };

    test('is marked as unused, unless the call had gone on with it', async () => {
      expect(await ended(() => Promise.resolve())).toMatchObject({ status: 'accept', isUnused: true });
      const used = { status: 'accept', isUnused: false };
      expect(await ended(({ toolCalls }, turn) => toolCalls.start(turn, 'c1', firstAttempt))).toMatchObject(
        used,
      );
      expect(await ended((storage, turn) => open(storage, asks(turn, 'c1')))).toMatchObject(used);
    });

    test('was cancelled before it ended', async () => {
      expect(await ended(({ turns }, turn) => turns.cancel(turn))).toMatchObject({ isUnused: true });
    });
  });

  const stop = ({ toolCalls }: Storage, turn: Live, toolCallId: string, others: string[] = []) =>
    toolCalls.finish(turn, toolCallId, {
      message: { id: `${turn.turnId}/${toolCallId}`, role: 'tool', content: [] },
      event: { key: `result/${toolCallId}`, event: { type: 'start-step', step: 1 } },
      stoppedWith: others,
    });

  describe('an accepted answer to a call that is ended from outside, while its turn goes on', () => {
    test('is marked as unused, unless the call had gone on with it', async () => {
      const { storage } = subject();
      const stopped = async (work: (turn: Live) => Promise<unknown>) => {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls: calls('c1') });
        const row = asks(turn, 'c1');
        await open(storage, row);
        await answer(storage, row);
        await nextMillisecond(storage);
        await work(turn);
        await stop(storage, turn, 'c1');
        return storage.elicitations.get(row.id);
      };
      expect(await stopped(() => Promise.resolve())).toMatchObject({ status: 'accept', isUnused: true });
      const used = { status: 'accept', isUnused: false };
      expect(await stopped((turn) => storage.toolCalls.start(turn, 'c1', firstAttempt))).toMatchObject(used);
      expect(await stopped((turn) => open(storage, asks(turn, 'c1')))).toMatchObject(used);
    });

    test('that other calls wait for, too, is unused when all of them are ended without it', async () => {
      const { storage } = subject();
      const shared = async (work: (turn: Live) => Promise<unknown>) => {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls: calls('c1', 'c2') });
        const row = asks(turn, 'c1');
        await open(storage, row);
        await open(storage, { ...row, waiter: { toolCallId: 'c2', workflowId: workflowOf(turn, 'c2') } });
        await answer(storage, row);
        await nextMillisecond(storage);
        await work(turn);
        return storage.elicitations.get(row.id);
      };
      expect(await shared((turn) => stop(storage, turn, 'c1'))).toMatchObject({ isUnused: false });
      expect(
        await shared(async (turn) => {
          await storage.toolCalls.start(turn, 'c1', firstAttempt);
          for (const id of ['c1', 'c2']) await stop(storage, turn, id, ['c2']);
        }),
      ).toMatchObject({ isUnused: false });
      expect(
        await shared(async (turn) => {
          await storage.toolCalls.start(turn, 'c1', firstAttempt);
          await storage.turns.end(turn, 'cancelled');
        }),
      ).toMatchObject({ isUnused: false });
      expect(
        await shared(async (turn) => {
          for (const id of ['c1', 'c2']) await stop(storage, turn, id, ['c1', 'c2']);
        }),
      ).toMatchObject({ isUnused: true });
      expect(
        await shared(async (turn) => {
          await storage.toolCalls.start(turn, 'c1', firstAttempt);
          await storage.toolCalls.finish(turn, 'c1', {
            message: { id: `${turn.turnId}/c1`, role: 'tool', content: [] },
            event: { key: 'result/c1', event: { type: 'start-step', step: 1 } },
          });
          await storage.turns.end(turn, 'cancelled');
        }),
      ).toMatchObject({ isUnused: false });
    });
  });

  describe('an accepted answer to a tool that is stopped', () => {
    const stopped = async (work: (storage: Storage, turn: Live) => Promise<unknown>) => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls: calls('c1') });
      await storage.toolCalls.start(turn, 'c1', firstAttempt);
      const context = { trigger: 'tool_elicitation' as const, agent: 'assistant' };
      const row = asks(turn, 'c1', { request: { ...form, context } });
      await open(storage, row);
      await answer(storage, row);
      await nextMillisecond(storage);
      await work(storage, turn);
      await stop(storage, turn, 'c1');
      return storage.elicitations.get(row.id);
    };

    test('is marked as unused, unless an effect of the tool has begun since', async () => {
      expect(await stopped(() => Promise.resolve())).toMatchObject({ status: 'accept', isUnused: true });
      const claim = ({ toolEffects }: Storage, turn: Live) =>
        toolEffects.claim(effectOf(turn, 'c1'), { turn, name: 'send' });
      expect(await stopped(claim)).toMatchObject({ status: 'accept', isUnused: false });
    });
  });

  describe('a turn that is to stop', () => {
    test('closes its questions and has its workflow cancelled, unless that stops it', async () => {
      await using at = await openClock(subject());
      const { storage } = at;
      const stop = async (by: (turn: Live) => Promise<unknown>) => {
        const turn = await begunTurn(storage);
        const row = asks(turn, 'c1');
        await open(storage, row);
        const stopped = await by(turn);
        expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'cancel' });
        expect(await storage.turns.get(turn)).toMatchObject({
          status: 'running',
          endingAt: expect.any(Number),
        });
        expect(await open(storage, asks(turn, 'c1'))).toEqual({ kind: 'over' });
        return { stopped, kinds: at.marks.splice(0).map(({ kind }) => kind) };
      };
      expect(await stop((turn) => storage.turns.cancel(turn))).toEqual({ stopped: true, kinds: ['cancel'] });
      expect(await stop((turn) => storage.turns.announceEnd(turn))).toEqual({
        stopped: undefined,
        kinds: [],
      });
    });

    test('is live', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turns.end(turn, 'completed', { isOwn: true });
      expect(await storage.turns.cancel(turn)).toBe(false);
      expect(await storage.turns.cancel(newTurn())).toBe(false);
    });
  });
});
