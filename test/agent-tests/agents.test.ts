/** Two cheap cases of what tests of agents can express. */
import { beforeAll, expect, test } from 'vitest';
import { testAgents } from '../../src/agent-tests/index.ts';
import type { Agents } from '../../src/agent-tests/index.ts';
import { books, useAgents } from './agents-under-test.ts';

const under = useAgents();
let agents: Agents;
beforeAll(async () => {
  Object.assign(under.env, { MODEL_URL: 'http://127.0.0.1:9/v1', CLERK_KEY: 'key' });
  agents = await testAgents(under);
}, 120_000);

test('a question is answered, the tool runs once with its arguments, and the model gets its result', async () => {
  const turn = await agents.as('alice').send('assistant', 'Book Rome', { model: books() });
  const question = await turn.question({ tool: 'book', fields: ['nights'] });
  expect(question.message).toBe('How many nights in Rome?');
  await question.answer({ nights: 3 });
  expect(await turn.answer()).toBe('Booked.');
  expect(await turn.calls('book')).toEqual([{ arguments: { city: 'Rome' }, result: 'book: Rome for 3' }]);
  expect(turn.modelReceived('book')).toBe('book: Rome for 3');
});

test('the wrong person is refused', async () => {
  const turn = await agents.as('alice').send('assistant', 'Book Rome', { model: books() });
  const question = await turn.question();
  await expect(agents.as('bob').answer(question, { nights: 3 })).rejects.toMatchObject({
    code: 'not_your_question',
  });
  await question.decline();
  expect(await turn.answer()).toBe('Booked.');
  expect(await question.outcome()).toBe('decline');
});
