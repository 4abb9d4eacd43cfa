/** `callTool` with clients of both SDK generations, at servers that ask in either era, rightly and wrongly. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureAnswers } from '../src/answers/fixture.ts';
import { declineAll } from '../src/answers/source.ts';
import type { AnswerSource } from '../src/answers/source.ts';
import { callTool } from '../src/call/call-tool.ts';
import { startAskingServer } from '../../../test/servers/asking-server.ts';
import type { AskingServer } from '../../../test/servers/asking-server.ts';
import { startScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import { startV1Server } from '../../../test/servers/v1-server.ts';
import type { V1Server } from '../../../test/servers/v1-server.ts';
import { connectFirst, connectSecond } from './clients.ts';
import type { TestClient } from './clients.ts';

let asking: AskingServer;
let playing: ScriptedMcpServer;
let first: V1Server;
const open: TestClient[] = [];
beforeAll(async () => {
  [asking, playing, first] = await Promise.all([
    startAskingServer({ era: 'both' }),
    startScriptedMcpServer(),
    startV1Server({ hasEventIds: false }),
  ]);
});
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await Promise.all([asking.stop(), playing.stop(), first.stop()]);
});

const keep = async (connecting: Promise<TestClient>) => {
  const one = await connecting;
  open.push(one);
  return one.client;
};
const three = fixtureAnswers({ fields: { nights: 3 } });
const text = (words: string) => ({ kind: 'result', result: { content: [{ type: 'text', text: words }] } });

describe.each([
  ['the second SDK, new era', () => keep(connectSecond(asking.config.url, 'modern'))],
  ['the second SDK, old era', () => keep(connectSecond(asking.config.url, 'legacy'))],
  ['the first SDK', () => keep(connectFirst(asking.config.url))],
])('%s', (_, connect) => {
  test('answers three rounds, each with what was asked in it', async () => {
    const report = await callTool(await connect(), { name: 'wizard' }, { answers: three });
    expect(report.end).toMatchObject(text('wizard 3,3,3,'));
    expect(report.rounds.map(({ questions }) => questions.map(({ request }) => request.message))).toEqual([
      ['How many nights in city 1?'],
      ['How many nights in city 2?'],
      ['How many nights in city 3?'],
    ]);
  });

  test('asks the sources in their order, question by question', async () => {
    const rome: AnswerSource = fixtureAnswers(
      { questions: [{ message: 'rome', accept: { nights: 1 } }] },
      { name: 'rome' },
    );
    const report = await callTool(
      await connect(),
      { name: 'compare' },
      { answers: [rome, three, declineAll] },
    );
    expect(report.end).toMatchObject(text('Rome 1, Oslo 3'));
    expect(report.rounds.flatMap(({ answers }) => answers.map(({ by }) => by))).toEqual([
      'rome',
      'the fixture',
    ]);
  });

  test('sends nothing where a question has no answer, or one that does not fit', async () => {
    const client = await connect();
    asking.done.length = 0;
    const call = { name: 'book', arguments: { city: 'Rome' } };
    const none = await callTool(client, call);
    expect(none.end).toMatchObject({
      kind: 'unanswered',
      reason: 'Nothing answers “How many nights in Rome?”, which book asks in round 1.',
    });
    const wrong = await callTool(client, call, { answers: fixtureAnswers({ fields: { nights: 99 } }) });
    expect(wrong.end).toMatchObject({
      kind: 'unanswered',
      reason:
        'What the fixture answers to “How many nights in Rome?” does not fit: "nights" must be at most 30.',
    });
    expect(asking.done).toEqual([]);
  });

  test('ends at the limit of rounds', async () => {
    const report = await callTool(await connect(), { name: 'wizard' }, { answers: three, maxRounds: 2 });
    expect(report.end).toMatchObject({
      kind: 'unanswered',
      reason: expect.stringContaining('more than 2 times'),
    });
    expect(report.rounds).toHaveLength(2);
  });

  test('declines', async () => {
    const call = { name: 'book', arguments: { city: 'Rome' } };
    const report = await callTool(await connect(), call, { answers: declineAll });
    expect(report.end).toMatchObject({ kind: 'result', result: { isError: true } });
  });
});

test('pages that a call is refused for are asked for, and the call comes again only when they are accepted', async () => {
  const client = await keep(connectFirst(first.url));
  expect((await callTool(client, { name: 'enter' }, { answers: declineAll })).end).toMatchObject({
    kind: 'error',
    code: -32042,
  });
  expect(first.begun).toEqual(['enter']);
});

test('a server that asks for a page says which, in the old era', async () => {
  const client = await keep(connectFirst(first.url));
  const open = fixtureAnswers({ questions: [{ mode: 'url', accept: true }] });
  const { end, rounds } = await callTool(client, { name: 'pay' }, { answers: open });
  expect(end).toMatchObject(text('paid: accept'));
  expect(rounds[0]?.questions[0]?.request).toMatchObject({ mode: 'url', url: 'https://pay.example/deposit' });
});

const form = {
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } },
};
const asks = (inputRequests: unknown, more: object = {}) => ({
  resultType: 'input_required',
  inputRequests,
  ...more,
});

describe('what breaks the protocol is named with its rule, and nothing is sent after it:', () => {
  test.each([
    [
      'an array of questions',
      { inputRequests: [{ id: 'city', kind: 'string' }], requestState: 'x' },
      'inputRequests',
      'inputrequests',
    ],
    [
      'a question without its resultType',
      { inputRequests: { a: form }, content: [] },
      'inputRequests',
      'server-requirements',
    ],
    [
      'neither requests nor state',
      { resultType: 'input_required' },
      'neither inputRequests nor requestState',
      'server-requirements',
    ],
    [
      'a state that is no text',
      asks({ a: form }, { requestState: 7 }),
      'requestState',
      'server-requirements',
    ],
    [
      'sampling, which was not declared',
      asks({ a: { method: 'sampling/createMessage', params: {} } }),
      'sampling/createMessage',
      'server-requirements',
    ],
    [
      'a nested form',
      asks({
        a: {
          method: 'elicitation/create',
          params: {
            message: 'Who?',
            requestedSchema: { type: 'object', properties: { a: { type: 'object' } } },
          },
        },
      }),
      'a form is flat',
      'requested-schema',
    ],
    [
      'a url with a password',
      asks({
        a: {
          method: 'elicitation/create',
          params: { mode: 'url', message: 'Go', url: 'https://a:b@c.example' },
        },
      }),
      'password',
      'url-mode',
    ],
    ['a result of an unknown type', { resultType: 'poem', content: [] }, '"poem"', 'responses'],
    ['a result without content', { resultType: 'complete' }, 'content', 'calling-tools'],
  ])('%s', async (_, move, words, rule) => {
    const client = await keep(connectSecond(playing.url, 'modern'));
    playing.play(move);
    const { end } = await callTool(client, { name: 'ask' }, { answers: declineAll });
    expect(end).toMatchObject({
      kind: 'fault',
      fault: { message: expect.stringContaining(words), clause: { url: expect.stringContaining(rule) } },
    });
    expect(playing.calls).toHaveLength(1);
  });
});

test('the state goes back as it was, and only where there was one', async () => {
  const client = await keep(connectSecond(playing.url, 'modern'));
  const state = ' \u0000"ü\\n=';
  playing.play(asks({ a: form }, { requestState: state }), asks({ b: form }));
  const { end } = await callTool(client, { name: 'ask', arguments: { x: 1 } }, { answers: declineAll });
  expect(end.kind).toBe('result');
  expect(
    playing.calls.map(({ params }) => [
      params.requestState,
      Object.keys(params.inputResponses ?? {}),
      params.arguments,
    ]),
  ).toEqual([
    [undefined, [], { x: 1 }],
    [state, ['a'], { x: 1 }],
    [undefined, ['b'], { x: 1 }],
  ]);
});

test('a server that says nothing ends the call', async () => {
  const client = await keep(connectSecond(playing.url, 'modern'));
  playing.play(() => undefined);
  expect((await callTool(client, { name: 'ask' }, { timeoutMs: 50 })).end).toEqual({
    kind: 'timeout',
    of: 'silence',
    afterMs: 50,
  });
});

test('the caller can stop it', async () => {
  const client = await keep(connectSecond(playing.url, 'modern'));
  const stop = new AbortController();
  playing.play(() => stop.abort());
  expect((await callTool(client, { name: 'ask' }, { signal: stop.signal })).end).toEqual({ kind: 'stopped' });
});

describe('a tool that has said what its result is', () => {
  const outputSchema = { type: 'object', properties: { nights: { type: 'integer' } }, required: ['nights'] };
  const end = async (result: object, schema: Record<string, unknown> = outputSchema) => {
    playing.play({ resultType: 'complete', content: [], ...result });
    const client = await keep(connectSecond(playing.url, 'modern'));
    return (await callTool(client, { name: 'ask', outputSchema: schema })).end;
  };
  const breaks = (message: RegExp) => ({
    kind: 'fault',
    fault: {
      message: expect.stringMatching(message),
      clause: { text: expect.stringContaining('must return structuredContent'), url: expect.any(String) },
    },
  });

  test('it fits, or the tool says that it failed', async () => {
    expect(await end({ structuredContent: { nights: 3 } })).toMatchObject({ kind: 'result' });
    expect(await end({ isError: true })).toMatchObject({ kind: 'result' });
  });

  test('it does not', async () => {
    expect(await end({ structuredContent: { nights: 'three' } })).toEqual(breaks(/nights must be integer/));
    expect(await end({})).toEqual(breaks(/has no structuredContent/));
    expect(await end({ structuredContent: {} }, { type: 'nonsense' })).toEqual(breaks(/cannot be used/));
  });
});
