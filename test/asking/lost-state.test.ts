/** A server that no longer knows its own state is called anew, once, and no question is asked twice. */
import { expect, test } from 'vitest';
import { asks, done, expired, form } from '../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../servers/scripted-mcp-server.ts';
import { city, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;
const rounds = () =>
  setup.server.calls.map(({ params: { inputResponses = {}, requestState } }) => [
    requestState,
    ...Object.entries(inputResponses).map(([key, { content }]) => `${key} ${String(content?.['city'])}`),
  ]);
const one: ScriptedReply = asks({ one: form('One') }, 's1');
const two: ScriptedReply = asks({ two: form('Two') }, 's2');

test('it is begun anew with the answers that there are, and only what is new is asked', async () => {
  const three = asks({ two: form('Two'), three: form('Three') }, 's4');
  const turn = await begin([one, two, expired, asks({ one: form('One') }, 's3'), three]);
  await turn.answerTo('One', city('Rome'));
  await turn.answerTo('Two', city('Oslo'));
  await turn.answerTo('Three', city('Bonn'));
  const { text, questions } = await turn.end();
  expect(text).toBe('done');
  expect(questions.map(({ message }) => message)).toEqual(['One', 'Two', 'Three']);
  expect(rounds()).toEqual([
    [undefined],
    ['s1', 'one Rome'],
    ['s2', 'two Oslo'],
    [undefined],
    ['s3', 'one Rome'],
    ['s4', 'two Oslo', 'three Bonn'],
  ]);
});

test('when it is lost a second time, that is the end', async () => {
  const turn = await begin([one, expired, one, expired, done('never')]);
  await turn.answer(0, city());
  const { error, questions } = await turn.end();
  expect(error).toMatch(/Asking .*refused the call: Invalid requestState/);
  expect(questions).toHaveLength(1);
  expect(setup.server.calls).toHaveLength(4);
});

test('a question that comes in other words is a new one', async () => {
  const turn = await begin([one, expired, asks({ one: form('One, please') }, 's2')]);
  await turn.answerTo('One', city('Rome'));
  await turn.answerTo('One, please', city('Oslo'));
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(rounds()).toEqual([[undefined], ['s1', 'one Rome'], [undefined], ['s2', 'one Oslo']]);
});

test('an answer that the server was not content with is not given again and again', async () => {
  const turn = await begin([one, expired, one, one]);
  await turn.answer(0, city('Rome'));
  await turn.answer(1, city('Oslo'));
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(rounds()).toEqual([
    [undefined],
    ['s1', 'one Rome'],
    [undefined],
    ['s1', 'one Rome'],
    ['s1', 'one Oslo'],
  ]);
});

test('a refusal is kept too: whoever declined is not asked again', async () => {
  const turn = await begin([one, expired, one]);
  await turn.answer(0, { action: 'decline' });
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(setup.server.calls.at(-1)?.params.inputResponses).toEqual({ one: { action: 'decline' } });
});

test('rounds before the restart do not count against the limit', async () => {
  const steps = ['1', '2', '3', '4', '5'].map((n) => asks({ [n]: form(n) }, `s${n}`));
  const turn = await begin([...steps, expired, ...steps]);
  for (const n of ['1', '2', '3', '4', '5']) await turn.answerTo(n, city(n));
  expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
  expect(setup.server.calls).toHaveLength(12);
});

test('a state that is refused without an answer to it is the server’s own trouble', async () => {
  const turn = await begin([expired]);
  expect((await turn.end()).error).toContain('Invalid requestState');
  expect(setup.server.calls).toHaveLength(1);
});
