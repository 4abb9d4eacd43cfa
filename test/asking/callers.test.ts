/** What a server may ask depends on what the caller can show: every request declares it, and a server that asks more is refused. */
import { expect, test } from 'vitest';
import type { ChatOptions } from '../service/user.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';
import { answerError } from '../servers/raw-mcp-server.ts';
import { accept, city, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;
const both = { form: form('Fill this in'), page: page('https://example.com/a') };

function declared(n: number): unknown {
  return setup.server.calls[n]?.params._meta?.['io.modelcontextprotocol/clientCapabilities'];
}

const callers: [words: string, options: ChatOptions, capabilities: object, refused: string][] = [
  ['only forms', { supports: 'form' }, { elicitation: { form: {} } }, 'page'],
  ['only links', { supports: 'url' }, { elicitation: { url: {} } }, 'form'],
];

test.each(callers)('a caller that can show %s', async (_, options, capabilities, refused) => {
  const { [refused as keyof typeof both]: wrong, ...right } = both;
  const good = await begin([asks(right)], options);
  await good.answer(0, refused === 'page' ? city() : accept());
  expect(await good.end()).toMatchObject({ text: 'done', error: undefined });
  expect([declared(0), declared(1)]).toEqual([capabilities, capabilities]);

  const bad = await begin([asks({ wrong, ...right })], options);
  const { error, questions } = await bad.end();
  expect(error).toContain(`which the user's client cannot show`);
  const asText = refused === 'page' ? '"Open this page\\nhttps://example.com/a"' : '"Fill this in\\n- ';
  expect(error).toContain(`to be put to the user in words, its question is ${asText}`);
  expect(questions).toEqual([]);
  expect(setup.server.calls).toHaveLength(1);
});

test.each([
  ['a caller that can show nothing', () => setup.alice],
  ['a service, behind which nobody sits', () => setup.service.asService()],
])('%s: the server is told, and asks nobody', async (words, by) => {
  const supports = words.includes('service') ? 'true' : null;
  for (const asked of Object.values(both)) {
    const turn = await begin([asks({ asked })], { supports, by: await by() });
    const { error, questions } = await turn.end();
    expect(error).toContain('could not be put to the user');
    expect(questions).toEqual([]);
    expect(declared(0)).toEqual({});
  }
});

test('a server that refuses because of that is passed on in words', async () => {
  const turn = await begin(
    [(message, response) => answerError(message, response, -32021, 'Missing capability', 400)],
    { supports: null },
  );
  expect((await turn.end()).error).toContain('their client cannot show');
  expect(setup.server.calls).toHaveLength(1);
});

test('what was never offered is refused: other requests, other modes, nothing at all', async () => {
  for (const [asked, reason] of [
    [{ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, 'sampling/createMessage'],
    [{ method: 'roots/list' }, 'roots/list'],
    [{ method: 'elicitation/create', params: { mode: 'dance', message: 'Dance?' } }, 'unknown way ("dance")'],
    [{ method: 'elicitation/create' }, 'malformed'],
    [null, 'no request'],
    ['city', 'no request'],
  ] as const) {
    const turn = await begin([asks({ good: form('Good'), asked })]);
    const { error, questions } = await turn.end();
    expect(error).toContain(reason);
    expect(questions).toEqual([]);
    expect(setup.server.calls).toHaveLength(1);
  }
});

test('the question names who asks and warns of what is odd about its link', async () => {
  const turn = await begin([asks({ page: page('http://alice@xn--80ak6aa92e.com/pay', 'Pay here') })]);
  const question = await turn.question(0);
  expect(question).toMatchObject({
    mode: 'url',
    message: 'Pay here',
    url: 'http://alice@xn--80ak6aa92e.com/pay',
    context: {
      trigger: 'mcp_elicitation',
      agent: 'Assistant',
      server: 'asking',
      serverTitle: 'Asking',
      host: new URL(setup.server.url).host,
      toolName: 'ask',
      toolCallId: expect.any(String),
    },
  });
  expect((question.context['warnings'] as string[]).toSorted()).toEqual([
    'plain_http',
    'punycode',
    'userinfo',
  ]);
  await turn.answer(0, { action: 'decline' });
  await turn.end();
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ page: { action: 'decline' } });
});

test('content that a link has no place for is refused, and its accept carries none', async () => {
  const turn = await begin([asks({ page: page('https://example.com/a') })]);
  expect((await turn.answer(0, city())).status).toBe(400);
  expect((await turn.answer(0, accept())).status).toBe(200);
  await turn.end();
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ page: { action: 'accept' } });
});
