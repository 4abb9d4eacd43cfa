/** What a server can demand: how often, how soon, and how much at once. */
import { describe, expect, test } from 'vitest';
import { asks, done, form, page } from '../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { accept, city, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;

test('a server that only wants to be called later is called ever more rarely', async () => {
  const times: number[] = [];
  const noting: ScriptedReply = (message, response) => {
    times.push(performance.now());
    answer(message, response, asks({}, `s${times.length}`));
  };
  const turn = await begin([noting, noting, noting, noting]);
  expect(await turn.end()).toMatchObject({ text: 'done', questions: [] });
  const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0));
  for (const [n, pause] of pauses.entries()) expect(pause).toBeGreaterThan(250 * 2 ** n * 0.9);
});

test('the user is not sent to the same page a fourth time', async () => {
  const again = asks({ page: page('https://example.com/pay') }, 's');
  const turn = await begin([again, again, again, again]);
  for (const n of [0, 1, 2]) await turn.answer(n, accept());
  const { error, questions } = await turn.end();
  expect(error).toContain('sent the user to the same page 3 times');
  expect(questions).toHaveLength(3);
  expect(setup.server.calls).toHaveLength(4);
});

test('pages that differ are not counted together', async () => {
  const pages = ['a', 'b', 'c', 'd'].map((name) => asks({ page: page(`https://example.com/${name}`) }));
  const turn = await begin(pages);
  for (const n of [0, 1, 2, 3]) await turn.answer(n, accept());
  expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
});

describe('more than can be asked', () => {
  const forms = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`q${n}`, form(`Question ${n}`)]));
  const tooMuch: [words: string, asked: object, reason: string][] = [
    ['a flood of questions', asks(forms(21)), 'more than 20 questions'],
    ['a state that fills the database', asks(forms(1), 's'.repeat(300_000)), 'requestState is too long'],
    ['a message that fills the screen', asks({ a: form('m'.repeat(4_001)) }), 'message is too long'],
    ['no message', asks({ a: form('') }), 'no message'],
    ['a nested form', asks({ a: form('A', { home: { type: 'object', properties: {} } }) }), '"home"'],
    ['a link with a password', asks({ a: page('https://u:p@example.com/') }), 'password'],
    ['a link that is none', asks({ a: page('javascript:alert(1)') }), 'url'],
    ['a state that is no text', { ...asks(forms(1)), requestState: { a: 1 } }, 'requestState is not a text'],
    ['requests that are no map', { ...asks(undefined, 's'), inputRequests: 'city' }, 'not a map'],
  ];
  test.each(tooMuch)('%s is refused in words, and nobody is asked', async (_, asked, reason) => {
    const turn = await begin([asked]);
    const { error, questions } = await turn.end();
    expect(error).toContain('could not be put to the user');
    expect(error).toContain(reason);
    expect(questions).toEqual([]);
    expect(setup.server.calls).toHaveLength(1);
  });
});

test('a state comes back to the last byte, and so do keys that are dangerous in other hands', async () => {
  const state = `${'š \u2028\u0000\\"</script>😀 '.repeat(6_000)}end`;
  const keys = ['__proto__', 'constructor', 'toString', '', ' ', 'ключ'];
  const asked = Object.fromEntries(keys.map((key) => [key, form(`For "${key}"`)]));
  const turn = await begin([asks(asked, state)]);
  for (const key of keys) await turn.answerTo(`For "${key}"`, city(`Answer for "${key}"`));
  expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
  const { inputResponses = {}, requestState } = setup.server.calls[1]?.params ?? {};
  expect(requestState === state).toBe(true);
  const answered = Object.entries(inputResponses).map(([key, { content }]) => [key, content?.['city']]);
  expect(answered.toSorted()).toEqual(keys.map((key) => [key, `Answer for "${key}"`]).toSorted());
});

test('a result is a result however large the state before it was', async () => {
  const turn = await begin([asks({}, 's'.repeat(200_000)), done('small')]);
  expect(await turn.end()).toMatchObject({ text: 'small' });
});
