/** What tests of agents can express: questions, answers, deadlines, approvals, accounts, delegates, models. */
import { beforeAll, expect, test } from 'vitest';
import {
  asksAgent,
  callsTool,
  recorded,
  says,
  script,
  testAgents,
  withAgents,
} from '../../src/agent-tests/index.ts';
import type { Agents } from '../../src/agent-tests/index.ts';
import type { OpenAIServer } from '../servers/openai-server.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import { testFolder } from '../test-folder.ts';
import { books, trackerToken, useAgents } from './agents-under-test.ts';

const under = useAgents();
let agents: Agents;
let model: OpenAIServer;

beforeAll(async () => {
  model = await createOpenAIServer({ reply: () => ({ kind: 'text', chunks: ['Good ', 'day.'] }) });
  Object.assign(under.env, { MODEL_URL: model.baseURL, CLERK_KEY: 'key' });
  agents = await testAgents(under);
});

test('ten minutes expire the questions of one turn, and of no other', async () => {
  const alice = agents.as('alice');
  const [late, other] = await Promise.all([
    alice.send('assistant', 'Book Rome', { model: books() }),
    alice.send('assistant', 'Book Oslo', { model: books('Oslo') }),
  ]);
  const [expiring, open] = await Promise.all([late.question(), other.question()]);
  await late.skip('9m');
  await late.skip('30s');
  await open.answer({ nights: 1 });
  expect(await other.answer()).toBe('Booked.');
  await late.skip('30s');
  expect(await expiring.outcome()).toBe('expired');
  await expect(expiring.answer({ nights: 3 })).rejects.toMatchObject({ code: 'expired' });
  expect(await late.answer()).toBe('Booked.');
  expect(await open.outcome()).toBe('accept');
});

test('ten minutes also expire the question of a server that keeps its connection open', async () => {
  const turn = await agents.as('alice').send('caller', 'Book Rome', { model: books() });
  const question = await turn.question({ server: 'held' });
  await turn.skip('10m');
  expect(await question.outcome()).toBe('expired');
  expect(await turn.answer()).toBe('Booked.');
});

test('a call is approved, asks its own question, and each of its activities is counted', async () => {
  const model = script(callsTool('delete_page', { page: 'Home' }), says('Deleted.'));
  const turn = await agents.as('alice').send('assistant', 'Delete the page Home', { model });
  const approval = await turn.question({ tool: 'delete_page', trigger: 'approval' });
  expect(await turn.calls('delete_page')).toEqual([]);
  await approval.approve();
  await (await turn.question({ fields: ['confirmed'] })).answer({ confirmed: true });
  expect(await turn.answer()).toBe('Deleted.');
  expect(await turn.calls('delete_page')).toEqual([
    { arguments: { page: 'Home' }, result: { deleted: 'Home' } },
  ]);
  expect(await turn.calls('deletePage')).toEqual([{ arguments: ['Home'] }]);
});

test('a tool in TypeScript that asks nothing is counted', async () => {
  const turn = await agents.as('alice').send('assistant', 'Which teams?', {
    model: script(callsTool('list_teams'), says('Two.')),
  });
  expect(await turn.answer()).toBe('Two.');
  expect(await turn.calls('list_teams')).toHaveLength(1);
});

test('a delegate has a script of its own, and its questions expire, too', async () => {
  const model = {
    assistant: script(asksAgent('researcher', 'Book Rome'), ({ results }) =>
      says(`It said: ${results[0]?.text}`),
    ),
    researcher: script(callsTool('book', { city: 'Rome' }), says('No answer.')),
  };
  const turn = await agents.as('alice').send('assistant', 'Have Rome booked', { model });
  const question = await turn.question({ tool: 'book' });
  await turn.skip('10m');
  expect(await question.outcome()).toBe('expired');
  expect(await turn.answer()).toBe('It said: No answer.');
});

test('a new message supersedes a turn that waits', async () => {
  const alice = agents.as('alice');
  const first = await alice.send('assistant', 'Book Rome', { model: books() });
  await first.question();
  const { conversation } = first;
  const second = await alice.send('assistant', 'Never mind', { conversation, model: script(says('Fine.')) });
  expect(await second.answer()).toBe('Fine.');
  expect(await first.end()).toEqual({ status: 'cancelled', text: '' });
});

test('an account is connected in the middle of a turn', async () => {
  const alice = agents.as('alice');
  const model = script(callsTool('connect_tracker'), callsTool('list_issues'), says('One issue.'));
  const turn = await alice.send('clerk', 'List my issues', { model });
  await turn.question({ trigger: 'credential_required', server: 'tracker' });
  await alice.connect('tracker', trackerToken);
  expect(await turn.answer()).toBe('One issue.');
  expect(turn.modelReceived('list_issues')).toBe('Broken lamp');
});

const failingScripts: [what: string, model: ReturnType<typeof script>, why: RegExp][] = [
  ['takes more steps', script(callsTool('list_teams')), /has no step 2\. The model received: .*list_teams/],
  ['leaves steps', script(says('Done.'), says('Again.')), /did not take: \{"say":"Again\."\}/],
  ['calls a tool that is not there', script(callsTool('fly')), /"fly", and assistant has: .*booking__book/],
];
test.each(failingScripts)('a turn that %s fails with its transcript', async (_, model, why) => {
  const turn = await agents.as('alice').send('assistant', 'Hello', { model });
  await expect(turn.answer()).rejects.toThrow(why);
  await expect(turn.answer()).rejects.toThrow('alice → assistant: Hello');
});

test('a wrong expectation fails with the transcript', async () => {
  const body = withAgents(under, async (own) => {
    const turn = await own.as('alice').send('assistant', 'Book Rome', { model: books() });
    await (await turn.question()).answer({ nights: 3 });
    expect(await turn.answer()).toBe('Sorry.');
  });
  const error = await body().catch((thrown: unknown) => thrown as Error);
  const transcript = [
    'alice → assistant: Book Rome',
    'assistant calls booking__book {"city":"Rome"} (executed: 1)',
    '  → "book: Rome for 3"',
    '? book asks alice: How many nights in Rome? [nights] → accept',
    'assistant: Booked.',
    'The turn: completed',
  ].join('\n');
  expect(error).toMatchObject({
    message: expect.stringContaining(transcript) as string,
    stack: expect.stringContaining(transcript) as string,
  });
});

test('a question that does not come fails with the transcript', async () => {
  // Longer than a busy machine takes for the question that does come.
  const own = await testAgents({ ...under, timeout: '8s' });
  const turn = await own.as('alice').send('assistant', 'Book Rome', { model: books() });
  await expect(turn.question({ fields: ['days'] })).rejects.toThrow(
    /without a question \{"fields":\["days"\]\}[^]*How many nights in Rome\? \[nights\] → pending/,
  );
});

test('a model is recorded once, and its recording fails when the turn changes', async () => {
  const file = `${testFolder()}/hello.json`;
  const ask = (text: string) => agents.as('alice').send('clerk', text, { model: recorded(file) });
  expect(await (await ask('Hello')).answer()).toBe('Good day.');
  await model.stop();
  expect(await (await ask('Hello')).answer()).toBe('Good day.');
  expect(model.requests).toHaveLength(1);
  await expect((await ask('Good night')).answer()).rejects.toThrow(
    /has no step 1 of clerk that received this: .*Good night/,
  );
});
