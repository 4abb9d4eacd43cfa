/** `interlude chat --answers`: a file answers what it knows; people are asked the rest, and see who answered. */
import { expect, test } from 'vitest';
import { decideFrom } from '@interlude-ai/kit/answers/answer-from.ts';
import { fixtureAnswers } from '@interlude-ai/kit/answers/fixture.ts';
import { startChatSession } from './chat-session.ts';
import { answersTo, form, page, settling } from './asked-forms.ts';

const decide = () =>
  decideFrom([fixtureAnswers({ fields: { name: 'Ada', nights: 2 } }, { name: 'answers.yaml' })]);

test('a form that the file answers is not put to the person', async () => {
  const sitting = await startChatSession(settling({ f1: form }), { decide: decide() });
  sitting.keyboard.line('List my issues');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toMatchObject([
    { elicitationId: 'f1', action: 'accept', content: { name: 'Ada', nights: 2 }, source: 'file' },
  ]);
  const text = sitting.screen().join('\n');
  expect(text).toContain('Answered by answers.yaml: accept');
  expect(text).not.toContain('1/2 Name');
});

test('what it does not know, the person is asked', async () => {
  const sitting = await startChatSession(settling({ p1: page }), { decide: decide() });
  sitting.keyboard.line('List my issues');
  await sitting.sees('Pay the deposit.');
  expect(answersTo(sitting)).toEqual([]);
  sitting.keyboard.line('n');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toEqual([{ conversationId: 'c1', elicitationId: 'p1', action: 'decline' }]);
});

test('an answer of the file that does not fit is not sent, and the person is asked', async () => {
  const wrong = decideFrom([fixtureAnswers({ fields: { name: 'Ada', nights: 99 } })]);
  const sitting = await startChatSession(settling({ f1: form }), { decide: wrong });
  sitting.keyboard.line('List my issues');
  await sitting.sees('1/2 Name');
  expect(answersTo(sitting)).toEqual([]);
});
