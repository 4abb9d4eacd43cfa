/** A program that answers over HTTP: its contract, and each way in which it fails. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectAnswers } from '../src/answers/answer-from.ts';
import { responder } from '../src/answers/responder.ts';
import { declineAll, toQuestion } from '../src/answers/source.ts';

let reply: (response: ServerResponse) => void = () => undefined;
const received: { body: unknown; headers: IncomingMessage['headers'] }[] = [];
const http = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ body: JSON.parse(Buffer.concat(chunks).toString()), headers: request.headers });
    reply(response);
  })();
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/answers`;
});
afterAll(() => http.close());

const requestedSchema = {
  type: 'object',
  properties: { n: { type: 'integer', maximum: 9 } },
  required: ['n'],
};
const question = (key: string) =>
  toQuestion({ key, request: { mode: 'form', message: `${key}?`, requestedSchema } });
const round = {
  tool: 'book',
  arguments: { city: 'Rome' },
  round: 1,
  requestState: 's',
  questions: [question('a'), question('b')],
};
const signal = new AbortController().signal;
const says = (value: unknown) => (response: ServerResponse) => {
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
};
const ask = (how: typeof reply, timeoutMs?: number) => {
  reply = how;
  const source = responder(url, {
    name: 'robot',
    headers: { 'x-key': 'k' },
    ...(timeoutMs && { timeoutMs }),
  });
  return collectAnswers([source, declineAll], round, { signal });
};
const accept = (n: unknown) => ({ action: 'accept', content: { n } });

test('is sent the call and the questions as the wire has them', async () => {
  await ask(says({ inputResponses: { a: accept(1), b: { action: 'cancel' } } }));
  expect(received.at(-1)).toMatchObject({
    headers: { 'x-key': 'k' },
    body: {
      tool: 'book',
      arguments: { city: 'Rome' },
      round: 1,
      requestState: 's',
      inputRequests: {
        a: { method: 'elicitation/create', params: { mode: 'form', message: 'a?', requestedSchema } },
      },
    },
  });
});

describe('is understood:', () => {
  test.each([
    ['a map of answers', { inputResponses: { a: accept('1'), b: { action: 'decline' } } }],
    [
      'a list of values',
      {
        inputResponses: [
          { id: 'a', value: 1 },
          { id: 'b', action: 'decline' },
        ],
      },
    ],
    ['null for what another source answers', { inputResponses: { a: accept(1), b: null } }],
  ])('%s', async (_, value) => {
    expect(await ask(says(value))).toMatchObject({
      kind: 'answers',
      answers: [
        { key: 'a', action: 'accept', content: { n: 1 }, by: 'robot' },
        { key: 'b', action: 'decline' },
      ],
    });
  });
});

describe('ends the call with a sentence:', () => {
  test.each<[string, typeof reply, string]>([
    ['another status than 200', (response) => response.writeHead(503).end(), 'answered with HTTP 503'],
    ['a redirect', (response) => response.writeHead(302, { location: '/' }).end(), 'answered with HTTP 302'],
    ['no JSON', says('<html>'), 'did not answer with JSON'],
    ['no inputResponses', says({}), 'without inputResponses'],
    [
      'an id that was not asked',
      says({ inputResponses: { a: null, b: null, c: null } }),
      'answers "c", which was not asked',
    ],
    ['an id that is missing', says({ inputResponses: { a: accept(1) } }), 'leaves out "b"'],
    [
      'an id twice in a list',
      says({
        inputResponses: [
          { id: 'a', value: 1 },
          { id: 'a', value: 2 },
        ],
      }),
      'answers "a" twice',
    ],
    ['an id twice in a map', says('{"inputResponses":{"a":null,"b":null,"a":null}}'), 'answers "a" twice'],
    [
      'an unknown action',
      says({ inputResponses: { a: { action: 'completed' }, b: null } }),
      'answers "a" with something that has no action',
    ],
    [
      'a required answer that is missing',
      says({ inputResponses: { a: { action: 'accept' }, b: null } }),
      'does not fit: "n" is required',
    ],
    [
      'an answer that does not fit',
      says({ inputResponses: { a: accept(10), b: null } }),
      'does not fit: "n" must be at most 9',
    ],
  ])('%s', async (_, how, words) => {
    expect(await ask(how)).toMatchObject({ kind: 'unanswered', reason: expect.stringContaining(words) });
  });

  test('silence', async () => {
    expect(await ask(() => undefined, 30)).toMatchObject({
      reason: 'The robot did not answer within 0.03 s.',
    });
  });

  test('nobody there', async () => {
    const source = responder('http://127.0.0.1:9', { name: 'robot' });
    expect(await collectAnswers([source], round, { signal })).toMatchObject({
      reason: 'The robot cannot be reached.',
    });
  });
});

test.each(['nowhere', 'ftp://a.example', 'http://user:pass@a.example'])(
  '%s is refused when it is configured',
  (address) => {
    expect(() => responder(address)).toThrow(TypeError);
  },
);
