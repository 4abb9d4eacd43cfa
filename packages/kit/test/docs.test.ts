/** What docs/testing-servers.md says of a file of answers and of a program that answers is so. */
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { collectAnswers } from '../src/answers/answer-from.ts';
import { fixtureAnswers } from '../src/answers/fixture.ts';
import type { Fixture } from '../src/answers/fixture.ts';
import { responder } from '../src/answers/responder.ts';
import { toQuestion } from '../src/answers/source.ts';
import type { Round } from '../src/answers/source.ts';
import { form, page } from '../../../test/servers/scripted-mcp-server.ts';

const text = readFileSync(new URL('../../../docs/testing-servers.md', import.meta.url), 'utf8');
const block = (start: string) => text.split(start)[1]?.split('```')[0] ?? '';
const signal = new AbortController().signal;
const file = fixtureAnswers(parse(block('```yaml\n# answers.yaml\n')) as Fixture);

const asked = (key: string, { params }: { params: object }) =>
  toQuestion({ key, request: params as Parameters<typeof toQuestion>[0]['request'] });
const ofRound = (tool: string, round: number, ...questions: Round['questions']): Round => ({
  tool,
  arguments: { city: 'Rome' },
  round,
  questions,
});
const nights = form('How many nights?', { nights: { type: 'integer' } }, { required: ['nights'] });
const email = form('Your address?', { email: { type: 'string' } }, { required: ['email'] });

test.each<[string, Round, object[]]>([
  ['words of the message, in the first round', ofRound('book', 1, asked('a', nights)), [{ nights: 3 }]],
  ['a field, in any other', ofRound('book', 2, asked('a', nights)), [{ nights: 2 }]],
  ['every tool', ofRound('other', 1, asked('a', email)), [{ email: 'ada@example.com' }]],
])('its file of answers answers by %s', async (_, round, contents) => {
  const { kind, ...rest } = await collectAnswers([file], round, { signal });
  expect([kind, rest]).toMatchObject(['answers', { answers: contents.map((content) => ({ content })) }]);
});

test('its file of answers answers by id: a value, a form, a page', async () => {
  const round = ofRound(
    'weather',
    1,
    asked('city', form('Where?')),
    asked('details', form('More?', { wind: { type: 'boolean' } })),
    asked('page', page('https://a.example')),
  );
  expect(await collectAnswers([file], round, { signal })).toMatchObject({
    answers: [
      { action: 'accept', content: { city: 'San Francisco' } },
      { action: 'accept', content: { wind: true } },
      { action: 'cancel' },
    ],
  });
  const link = ofRound('book', 1, asked('p', page('https://a.example')));
  expect(await collectAnswers([file], link, { signal })).toMatchObject({ answers: [{ action: 'decline' }] });
});

test('what it says a program is sent is sent, and both answers it shows are taken', async () => {
  const shown = JSON.parse(block('```json\n')) as Record<string, unknown>;
  const replies = [...text.matchAll(/`(\{"inputResponses": [^`]+)`/g)].map(([, reply = '']) => reply);
  expect(replies).toHaveLength(2);
  for (const reply of replies) {
    const post = vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response(reply));
    const round = { ...ofRound('book', 1, asked('nights', nights)), requestState: '…' };
    const collected = await collectAnswers([responder('https://qa.example')], round, { signal });
    expect(collected).toMatchObject({ answers: [{ action: 'accept', content: { nights: 3 } }] });
    const sent = JSON.parse(post.mock.calls[0]?.[1]?.body as string) as Record<string, unknown>;
    expect(Object.keys(sent).toSorted()).toEqual(Object.keys(shown).toSorted());
    expect(sent['inputRequests']).toMatchObject({
      nights: { method: 'elicitation/create', params: { mode: 'form', message: 'How many nights?' } },
    });
    post.mockRestore();
  }
});
