/** Rounds as they are kept between two activities, on a real database. */
import { expect, onTestFinished, test } from 'vitest';
import { createCallRounds, toRestartedRound, toRound } from '../../../src/activities/call-tool/rounds.ts';
import type { Round } from '../../../src/activities/call-tool/rounds.ts';
import { sealContent } from '../../../src/service/answer-question.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type { InputRequest, InputRequired } from '@interlude-ai/core/mcp/input-required.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';
import { answer, formQuestion, open } from '../../storage/contract/question.ts';

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
  const round = toRound(pause({ a: form('A'), b: form('B'), c: form('C'), d: link, e: form('E') }));
  const asked = (key: string) => formQuestion(turn, { id: idOf(round, key) });
  await open(storage, ['a', 'b', 'c', 'd'].map(asked));
  const give = (key: string, responseId: string, city: string) => {
    const response = { action: 'accept' as const, content: { city } };
    const sealedContent = sealContent(keys, idOf(round, key), response);
    return answer(storage, asked(key), 'accept', { responseId, sealedContent });
  };
  await give('a', 'r1', 'Oslo');
  await give('a', 'r2', 'Rome');
  await answer(storage, asked('b'), 'decline');
  await storage.elicitations.settle([idOf(round, 'c')], { type: 'withdrawn', because: 'server_gave_up' });
  await answer(storage, asked('d'), 'accept');
  const read = await storage.elicitations.read(round.questions.map(({ elicitationId }) => elicitationId));
  const rows = read.map(({ question }) => question);
  expect(rows[2]?.status).toBe('expired');
  expect(await rounds.answersTo(round, rows)).toEqual([
    { key: 'a', action: 'accept', content: { city: 'Oslo' } },
    { key: 'b', action: 'decline' },
    { key: 'c', action: 'cancel' },
    { key: 'd', action: 'accept' },
    { key: 'e', action: 'cancel' },
  ]);
});

test('an accepted form whose content is not there is not sent without it', async () => {
  const { storage, rounds, turn } = await startedCall();
  const round = toRound(pause({ a: form('A') }));
  const asked = formQuestion(turn, { id: idOf(round, 'a') });
  await open(storage, asked);
  const { question } = await answer(storage, asked, 'accept');
  await expect(rounds.answersTo(round, [question])).rejects.toThrow('not in the database');
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
  const third = toRestartedRound(pause({ a: form('A') }), [first, again]);
  expect(third.questions).toMatchObject([{ key: 'a' }]);
  expect(idOf(third, 'a')).not.toBe(idOf(first, 'a'));
  expect(third.questions[0]?.isAnswered).toBeUndefined();
});

test('of several answers to the same question, the last one before the restart is given again', () => {
  const [first, second] = [toRound(pause({ a: form('A') })), toRound(pause({ a: form('A') }))];
  const again = toRestartedRound(pause({ a: form('A') }), [first, second]);
  expect(idOf(again, 'a')).toBe(idOf(second, 'a'));
});
