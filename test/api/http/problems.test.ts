import { randomUUID } from 'node:crypto';
import fastifyFactory from 'fastify';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ChatRequestSchema } from '@interlude-ai/core/contract/chat.ts';
import { AnswerBodySchema, ElicitationResponseSchema } from '@interlude-ai/core/contract/elicitation.ts';
import { ChatCompletionRequestSchema } from '@interlude-ai/core/contract/openai.ts';
import { answerWithProblems, ProblemError, toPointer } from '../../../src/api/http/problems.ts';
import { misspeltMembers, parseInput, parseNamed } from '../../../src/api/http/validation.ts';
import { endOfJson, readJsonBodies } from '../../../src/api/http/json-bodies.ts';

let app: FastifyInstance;
const logged: string[] = [];

beforeAll(() => {
  app = fastifyFactory({
    bodyLimit: 200,
    logger: { level: 'warn', stream: { write: (line) => logged.push(line) } },
  });
  answerWithProblems(app);
  readJsonBodies(app);
  const schema = z.strictObject({ name: z.string(), parts: z.array(z.object({ 'a/b': z.number() })) });
  app.post('/strict', (request) => parseInput(schema, request.body));
  app.get('/bug', () => {
    throw new Error('secret detail of a bug');
  });
  app.get('/away', () => {
    throw new ProblemError('unavailable', 'The database is away.', {
      cause: new Error('connection refused'),
    });
  });
  app.get('/busy', () => {
    throw new ProblemError('turn_in_progress', 'Wait for the turn to end.', { members: { turnId: 't1' } });
  });
});

afterAll(() => app.close());

function post(payload: string, contentType = 'application/json') {
  return app.inject({ method: 'POST', url: '/strict', payload, headers: { 'content-type': contentType } });
}

test('every wrong field is named by its JSON pointer', async () => {
  const response = await post(JSON.stringify({ name: 1, parts: [{ 'a/b': 'x' }] }));
  expect(response.statusCode).toBe(400);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  const body = response.json();
  expect(body).toMatchObject({ code: 'invalid_request', status: 400 });
  expect(body.errors.map((error: { pointer: string }) => error.pointer)).toEqual(['/name', '/parts/0/a~1b']);
});

test('a pointer escapes what is special in pointers', () => {
  expect(toPointer(['a/b', '~', 0])).toBe('/a~1b/~0/0');
  expect(toPointer([])).toBe('');
});

test.each([
  ['broken JSON', '{"name": "secret-marker', 'application/json', 400, 'invalid_request'],
  ['no JSON at all', 'secret-marker', 'application/json', 400, 'invalid_request'],
  ['a forbidden key', '{"__proto__": {}}', 'application/json', 400, 'invalid_request'],
  [
    'a body over the limit',
    JSON.stringify({ name: 'x'.repeat(300) }),
    'application/json',
    413,
    'body_too_large',
  ],
  ['another content type', '<a/>', 'text/xml', 415, 'unsupported_media_type'],
])(
  '%s is a problem document that repeats nothing of the body',
  async (_, payload, contentType, status, code) => {
    const response = await post(payload, contentType);
    expect(response.json()).toMatchObject({ status, code });
    expect(response.statusCode).toBe(status);
    expect(response.body).not.toContain('secret-marker');
  },
);

test.each([
  ['{"name": "secret-marker"', 'The body is not JSON: it ends too early, at line 1, column 25.'],
  [
    '{\n  "name": secret-marker\n}',
    'The body is not JSON: what is at line 2, column 11 is not expected there.',
  ],
  ['[1,]', 'The body is not JSON: what is at line 1, column 4 is not expected there.'],
  ["{'name': 1}", 'The body is not JSON: what is at line 1, column 2 is not expected there.'],
  ['{"name": 1} {', 'The body is not JSON: what is at line 1, column 13 is not expected there.'],
])('of the body %j the place is named where it is no JSON', async (payload, detail) => {
  expect((await post(payload)).json()).toMatchObject({ code: 'invalid_request', detail });
});

test('what is JSON and what is not is told apart as the parser does it', () => {
  const valid = [
    '0',
    '-1.5e+3',
    '"a\\u00e9\\n"',
    'null',
    '[]',
    '{}',
    '[[],{"a":[1,"b",true]}]',
    ' {"a" : {}} \n',
  ];
  for (const text of valid) expect([text, endOfJson(text)]).toEqual([text, null]);
  const cut = valid.flatMap((text) => Array.from(text, (_, end) => text.slice(0, end)));
  const swapped = valid.flatMap((text) => [
    `${text},`,
    `,${text}`,
    text.replace('a', '\n'),
    text.toUpperCase(),
  ]);
  for (const text of [...cut, ...swapped, '01', '1.', '+1', 'NaN', '{"a" 1}', '{1:2}', '[1}', '"\\x"']) {
    const isJson = (() => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    })();
    expect([text, endOfJson(text) === null]).toEqual([text, isJson]);
  }
});

test('an unknown route is a problem document too', async () => {
  const response = await app.inject({ url: '/nowhere?token=x' });
  expect(response.json()).toMatchObject({
    status: 404,
    code: 'not_found',
    detail: 'There is nothing at GET /nowhere.',
  });
});

test.each(['/run/v1', '/v1/chat/completions', '/chat/completions', '/run/v1/responses', '/api/chat', '/run'])(
  'the answer to %s names the addresses of clients',
  async (url) => {
    const { detail } = (await app.inject({ method: 'POST', url })).json<{ detail: string }>();
    expect(detail).toContain(
      'useChat posts to /run/api/chat; OpenAI clients take /run/v1 as their base URL.',
    );
  },
);

test.each([
  [
    'messages of OpenAI at the chat',
    ChatRequestSchema,
    { messages: [{ role: 'user', content: 'Hello.' }] },
    { pointer: '/messages/0/parts', detail: expect.stringContaining('POST /run/v1/chat/completions') },
  ],
  [
    'no messages at the chat',
    ChatRequestSchema,
    { message: 'Hello.' },
    { pointer: '/messages', detail: expect.stringContaining('"parts": [{ "type": "text"') },
  ],
  [
    'messages of useChat at the completions',
    ChatCompletionRequestSchema,
    { model: 'assistant', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }] },
    { pointer: '/messages/0/content', detail: expect.stringContaining('POST /run/api/chat') },
  ],
  [
    'messages where an answer is expected',
    ElicitationResponseSchema,
    { conversationId: 'c1', elicitationId: randomUUID(), action: 'decline', messages: [] },
    { pointer: '/messages', detail: 'unknown here; messages go to POST /run/api/chat' },
  ],
])('%s are told where they belong', (_, schema, body, error) => {
  let told: unknown;
  try {
    parseInput(schema, body);
  } catch (problem) {
    told = problem instanceof ProblemError ? problem.members['errors'] : problem;
  }
  expect(told).toEqual([error]);
});

test.each([
  [
    'more than there may be',
    z.object({ limit: z.int().min(1).max(100) }),
    { limit: 500 },
    'send 100 or less',
  ],
  ['less', z.object({ limit: z.int().min(1) }), { limit: 0 }, 'send 1 or more'],
  ['another type', z.object({ stream: z.boolean() }), { stream: 'yes' }, 'send true or false'],
  ['nothing', z.object({ name: z.string() }), {}, 'missing; send a text'],
  [
    'too long a text',
    z.object({ name: z.string().max(3) }),
    { name: 'secret-marker' },
    'send at most 3 characters',
  ],
  [
    'a misspelt value',
    z.object({ onBusy: z.enum(['refuse', 'cancel']) }),
    { onBusy: 'cancle' },
    'send one of refuse, cancel (did you mean cancel?)',
  ],
  [
    'a misspelt member',
    z.strictObject({ action: z.string().optional() }),
    { acton: 'x' },
    'unknown (did you mean action?); leave it out',
  ],
])('for %s the message says what to send', (_, schema, body, detail) => {
  expect(() => parseInput(schema, body)).toThrow(detail);
});

test('a member that is almost the name of another one is refused, and others are let in', () => {
  const chat = { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }] };
  expect(() => parseNamed(ChatRequestSchema, { ...chat, agent: 'desk' })).toThrow(
    '/agent: unknown (did you mean agentId?)',
  );
  for (const name of ['model', 'data', 'body', 'userId', 'metadata', 'chatId', 'system', 'tools'])
    parseNamed(ChatRequestSchema, { ...chat, [name]: 'x' });
});

const question = { conversationId: 'c1', elicitationId: randomUUID() };
test.each([
  [
    'the chat',
    ChatRequestSchema,
    { message: 'Hello.', agent: 'desk' },
    ['/message: unknown (did you mean messages?)', '/agent: unknown (did you mean agentId?)'],
  ],
  [
    'the OpenAI surface',
    ChatCompletionRequestSchema,
    { model: 'desk', message: 'Hello.' },
    ['/message: unknown (did you mean messages?)'],
  ],
  [
    'the answers',
    AnswerBodySchema,
    { ...question, acton: 'decline' },
    ['/acton: unknown (did you mean action?); leave it out'],
  ],
  [
    'several answers',
    AnswerBodySchema,
    { conversationId: 'c1', response: [] },
    ['/response: unknown (did you mean responses?); leave it out'],
  ],
])('of a body of %s that does not fit, misspelt members are named', (_, schema: z.ZodType, body, named) => {
  let problem: unknown;
  try {
    parseNamed(schema, body);
  } catch (error) {
    problem = error;
  }
  const errors = (problem as ProblemError).members['errors'] as { pointer: string; detail: string }[];
  expect(errors.map(({ pointer, detail }) => `${pointer}: ${detail}`)).toEqual(expect.arrayContaining(named));
});

test('of the OpenAI surface, only near names are taken for misspelt, and none of OpenAI’s own', () => {
  const body = { model: 'a', messages: [{ role: 'user', content: 'Hello.' }] };
  const misspelt = (names: string[]) =>
    misspeltMembers(ChatCompletionRequestSchema, {
      ...body,
      ...Object.fromEntries(names.map((name) => [name, true])),
    });
  expect(misspelt(['straem', 'conversation_id'])).toEqual([
    { name: 'straem', meant: 'stream' },
    { name: 'conversation_id', meant: 'conversationId' },
  ]);
  const theirs = (
    'audio frequency_penalty function_call logit_bias max_completion_tokens max_tokens metadata moderation ' +
    'parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort ' +
    'safety_identifier seed service_tier stop store temperature tool_choice top_logprobs top_p user verbosity ' +
    'web_search_options extra_body provider session_id top_k min_p repetition_penalty reasoning thinking'
  ).split(' ');
  expect(misspelt(theirs)).toEqual([]);
  expect(parseNamed(ChatCompletionRequestSchema, { ...body, straem: true })).toMatchObject({ straem: true });
});

test('a bug is masked for the caller and logged for the operator', async () => {
  logged.length = 0;
  const response = await app.inject({ url: '/bug' });
  expect(response.json()).toMatchObject({ status: 500, code: 'internal' });
  expect(response.body).not.toContain('secret detail');
  expect(logged.join()).toContain('secret detail of a bug');
});

test('what we depend on being away is 503; the cause is for the log', async () => {
  const response = await app.inject({ url: '/away' });
  expect(response.json()).toMatchObject({
    status: 503,
    code: 'unavailable',
    detail: 'The database is away.',
  });
});

test('members of a problem stand beside the standard ones', async () => {
  const response = await app.inject({ url: '/busy' });
  expect(response.json()).toEqual({
    type: 'urn:interlude:problem:turn_in_progress',
    title: 'The conversation is busy with a turn',
    status: 409,
    code: 'turn_in_progress',
    detail: 'Wait for the turn to end.',
    turnId: 't1',
  });
});
