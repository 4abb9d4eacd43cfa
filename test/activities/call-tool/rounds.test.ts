/** Rounds as they are kept between two activities, on a real database. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import {
  createCallRounds,
  toCallPaused,
  toRestartedRound,
  toRound,
} from '../../../src/activities/call-tool/rounds.ts';
import type { Round } from '../../../src/activities/call-tool/rounds.ts';
import { sealContent } from '../../../src/service/answer-record.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type { ElicitationRequest } from '../../../src/elicitation/elicitation.ts';
import type { InputRequest, InputRequired } from '../../../src/remote/input-required.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';

const form = (message: string): InputRequest => ({
  mode: 'form',
  message,
  requestedSchema: { type: 'object' },
});
const link: InputRequest = { mode: 'url', message: 'Open', url: 'https://example.com' };
const pause = (questions: Record<string, InputRequest>, requestState?: string): InputRequired => ({
  questions: Object.entries(questions).map(([key, request]) => ({ key, request })),
  resume: { kind: 'retry', ...(requestState !== undefined && { requestState }) },
});
const idOf = ({ questions }: Round, key: string) =>
  questions.find((question) => question.key === key)?.elicitationId ?? '';

function rowFor({ tenant, conversation, turnId }: TurnRef, id: string) {
  const context = {
    trigger: 'mcp_elicitation',
    agent: 'A',
    server: 's',
    serverTitle: 'S',
    host: 'h',
  } as const;
  return {
    tenant,
    conversation,
    turnId,
    id,
    workflowId: 'w',
    agent: 'a',
    user: 'alice',
    salt: 'salt',
    request: { ...link, context } as ElicitationRequest,
    server: null,
    seenVersion: null,
    deadline: Date.now() + 600_000,
  };
}

async function startedCall() {
  const storage = await openStorage({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => storage.close());
  const keys = parseKeys(generateKey('k1'));
  const rounds = createCallRounds({ storage, keys });
  const turn = await begunTurn(storage);
  const calls = ['c1', 'c2'].map((toolCallId) => ({ toolCallId, toolName: 'asking__ask', input: {} }));
  await keptStep(storage, turn, { calls });
  await storage.toolCalls.start(turn, 'c1', firstAttempt);
  return { storage, keys, rounds, turn };
}

test('a round comes back as it was kept, and is sealed for one call of one turn', async () => {
  const { storage, rounds, turn } = await startedCall();
  const kept = toRound(pause({ ['__proto__']: form('A'), b: link }, 'state \uD800 😀'));
  expect(await rounds.keep(turn, 'c1', [], kept, firstAttempt)).toEqual(kept);
  expect(await rounds.list(turn, 'c1')).toEqual([kept]);

  const [row] = await storage.toolCalls.rounds(turn, 'c1');
  expect(row?.sealed).not.toContain('state');
  await storage.toolCalls.start(turn, 'c2', firstAttempt);
  await storage.toolCalls.keepRound(
    turn,
    'c2',
    { round: 1, sealed: row?.sealed ?? '' },
    'paused',
    firstAttempt,
  );
  await expect(rounds.list(turn, 'c2')).rejects.toThrow('it belongs to something else');
  const others = createCallRounds({ storage, keys: parseKeys(generateKey('k2')) });
  await expect(others.list(turn, 'c1')).rejects.toThrow('sealed with the key "k1"');
});

test('of two processes that were asked, the ids of the first are the ones people know', async () => {
  const { rounds, turn } = await startedCall();
  const [first, second] = [toRound(pause({ a: form('A') })), toRound(pause({ a: form('A') }))];
  expect(idOf(first, 'a')).not.toBe(idOf(second, 'a'));
  await rounds.keep(turn, 'c1', [], first, firstAttempt);
  expect(await rounds.keep(turn, 'c1', [], second, firstAttempt)).toEqual(first);
});

test('a call that has ended takes no more rounds', async () => {
  const { storage, rounds, turn } = await startedCall();
  await storage.toolCalls.finish(turn, 'c1', {
    message: { id: 'm', role: 'tool', content: [] },
    event: {
      key: 'k',
      event: { type: 'tool-output-error', toolCallId: 'c1', toolName: 'asking__ask', errorText: 'over' },
    },
  });
  expect(await rounds.keep(turn, 'c1', [], toRound(pause({ a: form('A') })), firstAttempt)).toBeNull();
});

test('answers go back under their keys: with the content of the answer that counts, or as the end they came to', async () => {
  const { storage, keys, rounds, turn } = await startedCall();
  const round = toRound(pause({ a: form('A'), b: form('B'), c: form('C'), d: link, e: link, f: form('F') }));
  const receivedAt = Date.now();
  for (const key of ['a', 'd'])
    await storage.elicitations.open(rowFor(turn, idOf(round, key)), { perUser: 20 });
  const store = (key: string, responseId: string, content?: Record<string, unknown>) => {
    const response = { action: 'accept' as const, ...(content && { content }) };
    const sealedContent = sealContent(keys, idOf(round, key), response);
    return storage.elicitations.storeAnswer(idOf(round, key), {
      responseId,
      action: 'accept',
      sealedContent,
      receivedAt,
    });
  };
  await store('a', 'r1', { city: 'Oslo' });
  await store('a', 'r2', { city: 'Rome' });
  await store('d', 'r3');
  const given = [
    { elicitationId: idOf(round, 'a'), outcome: 'accept' as const, responseId: 'r2' },
    { elicitationId: idOf(round, 'b'), outcome: 'decline' as const, responseId: 'r4' },
    { elicitationId: idOf(round, 'c'), outcome: 'expired' as const, responseId: null },
    { elicitationId: idOf(round, 'd'), outcome: 'accept' as const, responseId: 'r3' },
    { elicitationId: idOf(round, 'e'), outcome: 'accept' as const, responseId: null },
    { elicitationId: randomUUID(), outcome: 'accept' as const, responseId: 'r9' },
  ];
  expect(await rounds.answersTo(round, given)).toEqual([
    { key: 'a', action: 'accept', content: { city: 'Rome' } },
    { key: 'b', action: 'decline' },
    { key: 'c', action: 'cancel' },
    { key: 'd', action: 'accept' },
    { key: 'e', action: 'accept' },
    { key: 'f', action: 'cancel' },
  ]);
});

test('an accepted form whose content is not there is not sent without it', async () => {
  const { rounds } = await startedCall();
  const round = toRound(pause({ a: form('A') }));
  const lost = { elicitationId: idOf(round, 'a'), outcome: 'accept' as const, responseId: 'r1' };
  await expect(rounds.answersTo(round, [lost])).rejects.toThrow('not in the database');
});

test('after a restart, what is asked in the same words under the same key has its answer; once', () => {
  const first = toRound(pause({ a: form('A'), b: form('B') }));
  const again = toRestartedRound(pause({ a: form('A'), b: form('B, please'), c: form('A') }), [first]);
  expect(idOf(again, 'a')).toBe(idOf(first, 'a'));
  expect(again.questions.map(({ key, isAnswered = false }) => [key, isAnswered])).toEqual([
    ['a', true],
    ['b', false],
    ['c', false],
  ]);
  expect(toCallPaused(again, 2)).toEqual({
    kind: 'asks',
    round: 2,
    questions: [
      { elicitationId: idOf(again, 'b'), mode: 'form' },
      { elicitationId: idOf(again, 'c'), mode: 'form' },
    ],
  });
  const third = toRestartedRound(pause({ a: form('A') }), [first, again]);
  expect(third.questions).toMatchObject([{ key: 'a' }]);
  expect(idOf(third, 'a')).not.toBe(idOf(first, 'a'));
  expect(toCallPaused(third, 3).questions).toHaveLength(1);
});

test('of several answers to the same question, the last one before the restart is given again', () => {
  const [first, second] = [toRound(pause({ a: form('A') })), toRound(pause({ a: form('A') }))];
  const again = toRestartedRound(pause({ a: form('A') }), [first, second]);
  expect(idOf(again, 'a')).toBe(idOf(second, 'a'));
});
