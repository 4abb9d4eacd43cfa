/**
 * Everything that settles questions, at once and after random delays, from three processes' worth of storages: no transaction
 * waits for another in a circle, no question is settled twice, and none is left open in a turn that has ended.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { NewQuestion } from '../../src/storage/tables/elicitation-rows.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { postgresUrl } from '../postgres.ts';
import { testFolder } from '../test-folder.ts';
import {
  begunTurn,
  ending,
  firstAttempt,
  keptStep,
  newTurn,
  refuseWhileBusy,
  step,
} from './contract/fixtures.ts';
import { answer, failuresOf, formQuestion, open, question, settle } from './contract/question.ts';

const rounds = 50;
const secrets = { store: 'oauth', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
const callIds = ['a', 'b', 'c'];
const limits = { perUser: 1_000 };

/** The calls of a turn share an account, and each asks two questions of its own. */
function questionsOf(turn: TurnRef, toolCallId: string, version = 0): NewQuestion[] {
  const waiter = { toolCallId, workflowId: `${turn.turnId}/${toolCallId}` };
  const account = { place: `account/${turn.turnId}/tracker/${version}`, seenVersion: version, waiter };
  return [question(turn, account), formQuestion(turn, { waiter }), question(turn, { waiter })];
}

type Work = (storage: Storage) => Promise<unknown>;

function worksOn(turn: TurnRef, asked: NewQuestion[]): Work[] {
  const { tenant, conversation, turnId } = turn;
  const message = () => newTurn({ tenant, conversation });
  const workflowId = `${turnId}/a`;
  return [
    ({ turns }) => turns.end(turn, 'cancelled'),
    ({ turns }) => turns.cancel(turn),
    ({ turns }) => turns.prepare(message(), refuseWhileBusy),
    ({ turns }) => turns.prepare(message(), ending),
    ({ toolEffects }) => toolEffects.claim({ workflowId, activityId: '1' }, { turn, name: 'send' }),
    ({ elicitations }) =>
      elicitations.settle(asked.map(({ id }) => id).toReversed(), { type: 'deadline-passed' }),
    ...callIds.flatMap((toolCallId): Work[] => [
      ({ toolCalls }) =>
        toolCalls.finish(turn, toolCallId, {
          message: { id: `${turnId}/${toolCallId}`, role: 'tool', content: [] },
          event: { key: `result/${toolCallId}`, event: step(1).event },
        }),
      ({ toolCalls }) => toolCalls.start(turn, toolCallId, firstAttempt),
      ({ elicitations }) => elicitations.leave(turn, { toolCallId }),
      (storage) => open(storage, questionsOf(turn, toolCallId, 2), limits),
    ]),
    ...asked.flatMap((row): Work[] => [
      (storage) => answer(storage, row, randomInt(2) === 0 ? 'accept' : 'decline'),
      (storage) => settle(storage, row.id),
    ]),
  ];
}

async function storm(storages: Storage[], tenant: string): Promise<TurnRef[]> {
  const some = () => storages[randomInt(storages.length)]!;
  const turns = await Promise.all([1, 2, 3].map(() => begunTurn(some(), { tenant })));
  const works: Work[] = [null, 'alice', 'alice'].map(
    (user) =>
      ({ connections }) =>
        connections.establish({ tenant, server: 'tracker', user }, secrets),
  );
  for (const turn of turns) {
    const calls = callIds.map((toolCallId) => ({ toolCallId, toolName: 'tracker__list', input: {} }));
    await keptStep(some(), turn, { calls });
    const asked = callIds.map((toolCallId) => questionsOf(turn, toolCallId));
    for (const questions of asked) await open(some(), questions, limits);
    // A shared question has the id of the first that opened it.
    const [first = [], ...others] = asked;
    works.push(...worksOn(turn, [...first, ...others.flatMap(([, ...own]) => own)]));
  }
  const outcomes = await Promise.allSettled(
    works.map(async (work) => {
      await sleep(randomInt(60));
      await work(some());
    }),
  );
  expect(failuresOf(outcomes)).toEqual([]);
  return turns;
}

describe.each([
  ['sqlite', () => ({ kind: 'sqlite', path: `${testFolder()}/interlude.db` }) as const],
  ['postgres', async () => ({ kind: 'postgres', url: await postgresUrl() }) as const],
])('on %s', (_, fresh) => {
  test('whatever settles questions at once settles each once', { timeout: 600_000 }, async () => {
    await using stack = new AsyncDisposableStack();
    const database = await fresh();
    const storages = await Promise.all([1, 2, 3].map(() => openStorage(database)));
    for (const storage of storages) stack.defer(() => storage.close());
    const [storage] = storages;
    if (!storage) throw new Error('three were opened');
    for (let round = 0; round < rounds; round++)
      for (const turn of await storm(storages, `tenant-${round}`)) {
        expect((await storage.turns.get(turn))?.status).not.toBe('running');
        const events = (await storage.turnLog.read(turn, 0)).map(({ event }) => event);
        for (const { id, status } of await storage.elicitations.ofConversation(turn)) {
          const told = events.flatMap((event) =>
            event.type === 'elicitation-request' && event.elicitationId === id ? [event.status] : [],
          );
          expect(status).not.toBe('pending');
          expect(told).toEqual(['pending', status]);
        }
      }
  });
});
