/** `interlude answer` at a real service: what it answers, what it leaves to people, and how it ends. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runAnswer } from '@interlude-ai/program/chat/run-answer.ts';
import type { AnswerOptions, QuestionReport } from '@interlude-ai/program/chat/run-answer.ts';
import { createClient } from '@interlude-ai/client/client.ts';
import { createApiKey } from '../../src/service/api-keys.ts';
import { decideFrom } from '@interlude-ai/kit/answers/answer-from.ts';
import { fixtureAnswers } from '@interlude-ai/kit/answers/fixture.ts';
import { declineAll } from '@interlude-ai/kit/answers/source.ts';
import type { AnswerSource } from '@interlude-ai/kit/answers/source.ts';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';
import { startCommand } from './start-command.ts';

const setup = useAskingService();
const { begin } = setup;
let key: string;
let folder: string;
let lines: string[];
let reports: QuestionReport[];

beforeAll(async () => {
  key = await createApiKey(setup.service.storage, 'demo', null, { actsForUsers: true });
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-answer-'));
});
beforeEach(() => {
  [lines, reports] = [[], []];
});
afterEach(() => setup.service.endTurns());
afterAll(async () => {
  await rm(folder, { recursive: true });
});

function answering(sources: AnswerSource[], more: Partial<AnswerOptions> = {}): Promise<number> {
  return runAnswer({
    client: createClient({ baseUrl: setup.service.baseUrl, token: key, forUser: 'alice' }),
    decide: decideFrom(sources),
    isOnce: true,
    timeoutMs: 20_000,
    line: (text) => lines.push(text),
    report: (outcome) => reports.push(outcome),
    signal: new AbortController().signal,
    ...more,
  });
}

const cities = fixtureAnswers(
  {
    tools: {
      ask: {
        questions: [
          { message: 'which city', accept: { city: 'Lisbon' } },
          { message: 'how many', round: 2, accept: { nights: '3' } },
        ],
      },
    },
  },
  { name: 'answers.yaml' },
);
const nights = { nights: { type: 'integer', minimum: 1 } };

test('what is open and what comes is answered from a file, round by round, and is in the audit as that', async () => {
  const turn = await begin([
    asks({ city: form('Which city?') }, 's1'),
    asks({ nights: form('How many nights?', nights) }, 's2'),
  ]);
  await turn.question(0);
  const stop = new AbortController();
  const running = answering([cities], { isOnce: false, signal: stop.signal });
  expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
  stop.abort();
  expect(await running).toBe(0);
  expect(setup.server.calls.map(({ params }) => params.inputResponses)).toEqual([
    undefined,
    { city: { action: 'accept', content: { city: 'Lisbon' } } },
    { nights: { action: 'accept', content: { nights: 3 } } },
  ]);
  expect(reports).toMatchObject([
    { message: 'Which city?', outcome: 'accept', by: 'answers.yaml' },
    { message: 'How many nights?', outcome: 'accept', by: 'answers.yaml' },
  ]);
  const { elicitationId } = await turn.question(0);
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toMatchObject([
    { action: 'answered', actor: `key ${key.split('_')[1]} for alice`, detail: 'accept by a file' },
  ]);
});

test('what no source answers, and an answer that does not fit, is left open for a person', async () => {
  const wrong = fixtureAnswers({ questions: [{ field: 'nights', accept: { nights: 'many' } }] });
  const turn = await begin([
    asks({ asked: form('Who are you?', { name: { type: 'string' } }), nights: form('Nights?', nights) }),
  ]);
  await turn.question(1);
  expect(await answering([wrong])).toBe(3);
  expect(reports).toHaveLength(2);
  expect(reports.map(({ outcome, reason }) => `${outcome}: ${reason}`).toSorted()).toEqual([
    'left: Nothing answers “Who are you?”, which ask asks in round 1.',
    'left: What the fixture answers to “Nights?” does not fit: "nights" must be a whole number.',
  ]);
  expect(turn.statuses()).toEqual(['pending', 'pending']);
});

test('a link is not opened by a program: it is said, and left to the person', async () => {
  const turn = await begin([asks({ there: page('https://example.com/a') })]);
  await turn.question(0);
  expect(await answering([fixtureAnswers({ questions: [{ mode: 'url', accept: true }] })])).toBe(3);
  expect(reports).toMatchObject([{ outcome: 'left' }]);
  expect(reports[0]?.reason).toContain('A link is for the person who was asked');
  expect(turn.statuses()).toEqual(['pending']);
});

test('an answer that arrives although nobody confirms it is not said to be left open', async () => {
  const turn = await begin([asks({ city: form('Which city?') }, 's1')]);
  await turn.question(0);
  const client = createClient({
    baseUrl: setup.service.baseUrl,
    token: key,
    forUser: 'alice',
    timing: { giveUpMs: 2_000 },
    // The way back breaks off, each time.
    async fetch(url, request) {
      const response = await fetch(url, request);
      if (typeof url !== 'string' || !url.endsWith('/elicitation-responses')) return response;
      await response.arrayBuffer();
      throw new TypeError('the connection broke off');
    },
  });
  expect(await answering([cities], { client })).toBe(3);
  expect(reports).toMatchObject([{ outcome: 'unconfirmed', by: 'answers.yaml' }]);
  expect(lines.join('\n')).toContain('not confirmed');
  expect(lines.join('\n')).not.toContain('left open');
  expect(await turn.end()).toMatchObject({ text: 'done' });
});

test('a rule declines whatever is asked', async () => {
  const turn = await begin([asks({ there: page('https://example.com/a') })]);
  const { elicitationId } = await turn.question(0);
  expect(await answering([declineAll])).toBe(0);
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toMatchObject([
    { detail: 'decline by a rule' },
  ]);
});

test('where nothing is asked in time, it ends with 5', async () => {
  expect(await answering([declineAll], { timeoutMs: 50 })).toBe(5);
  expect(lines).toEqual(['  Nothing was asked within 0.05 seconds.']);
});

test('as a command: with a key for a user, a file, and an object for each question', async () => {
  const file = path.join(folder, 'answers.yaml');
  await writeFile(file, 'fields:\n  city: Porto\n');
  const turn = await begin([asks({ city: form('Which city?') })]);
  const words = ['answer', '--service', setup.service.baseUrl, '--for', 'alice', '--answers', file];
  const env = { INTERLUDE_TOKEN: key };
  const { code, output, errors } = await startCommand(
    [...words, '--once', '--timeout', '20s', '--json'],
    env,
  );
  expect([code, errors]).toEqual([0, '']);
  expect(JSON.parse(output)).toMatchObject({ message: 'Which city?', outcome: 'accept', by: 'answers.yaml' });
  expect(output).not.toContain('Porto');
  expect(await turn.end()).toMatchObject({ text: 'done' });
});

test.each([
  [['answer'], 'Name a source of answers'],
  [['answer', '--for', 'alice', '--decline'], '--for needs an API key'],
  [['answer', '--decline', '--timeout', '60'], "argument '60' is invalid. Write for example 90s."],
  [['answer', '--answers', 'nowhere.yaml'], 'nowhere.yaml does not exist'],
])('a wrong command line, %j, is exit code 2', async (words, problem) => {
  const { code, errors } = await startCommand(words, {});
  expect(errors).toContain(problem);
  expect(code).toBe(2);
});
