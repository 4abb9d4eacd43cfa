/** The recogniser and the builder of the retry, in the hands of somebody who makes the calls with an SDK; and what is kept of answers. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../src/call/call-tool.ts';
import { recognizeInputRequired, buildRetry } from '../src/call/read-answer.ts';
import { fixtureAnswers } from '../src/answers/fixture.ts';
import type { AnswerSource } from '../src/answers/source.ts';
import { startAskingServer } from '../../../test/servers/asking-server.ts';
import type { AskingServer } from '../../../test/servers/asking-server.ts';
import { asks, done, form, startScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import { connectSecond } from './clients.ts';
import type { TestClient } from './clients.ts';

let asking: AskingServer;
let playing: ScriptedMcpServer;
let connected: TestClient;
beforeAll(async () => {
  [asking, playing] = await Promise.all([startAskingServer({ era: 'both' }), startScriptedMcpServer()]);
  connected = await connectSecond(playing.url, 'modern');
});
afterAll(async () => {
  await connected.close();
  await Promise.all([asking.stop(), playing.stop()]);
});

const info = { name: 'by-hand', version: '1' };
const capabilities = { elicitation: { form: {}, url: {} } };

test('a client of the second SDK calls by hand: recognised, answered, built and sent, to the result', async () => {
  const client = new Client(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(asking.config.url)));
  const first = { name: 'wizard', arguments: {} };
  let params: Record<string, unknown> = first;
  const states = new Set<unknown>();
  for (let round = 1; round <= 3; round += 1) {
    const pause = recognizeInputRequired(
      await client.callTool(params as typeof first, { allowInputRequired: true }),
    );
    if (!pause) throw new Error(`round ${round} asks nothing`);
    const answers = pause.questions.map(({ key }) => ({
      key,
      action: 'accept' as const,
      content: { nights: round },
    }));
    // What an earlier round added is left out: the newest state only.
    params = buildRetry(params, pause, answers);
    expect(Object.keys(params['inputResponses'] as object)).toEqual(pause.questions.map(({ key }) => key));
    states.add(params['requestState']);
  }
  const end = await client.callTool(params as typeof first, { allowInputRequired: true });
  expect(recognizeInputRequired(end)).toBeNull();
  expect(end).toMatchObject({ content: [{ text: 'wizard 1,2,3,' }] });
  expect(states.size).toBe(3);
  expect(first).toEqual({ name: 'wizard', arguments: {} });
  await client.close();
});

test('a result of the first SDK asks nothing', async () => {
  const client = new FirstClient(info, { capabilities: {} });
  const transport = new FirstTransport(new URL(asking.config.url));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const result = await client.callTool({ name: 'book', arguments: { city: 'Rome' } });
  expect(recognizeInputRequired(result)).toBeNull();
  await client.close();
});

test.each([
  ['a list of requests', { ...asks(undefined, 's'), inputRequests: [form('Who?')] }],
  ['requests in a result that says it is complete', { ...done(), inputRequests: { a: form('Who?') } }],
  ['nothing to answer and no state', asks(undefined)],
])('what asks against the specification is no result, but an error with the rule: %s', (_, result) => {
  expect(() => recognizeInputRequired(result)).toThrow(/The rule: /);
});

test('a question without an answer, and an answer without a question, build nothing', () => {
  const pause = recognizeInputRequired(asks({ a: form('Who?') }, 's'));
  if (!pause) throw new Error('It asks nothing.');
  expect(() => buildRetry({ name: 'ask' }, pause, [])).toThrow('The question "a" has no answer.');
  const decline = (key: string) => ({ key, action: 'decline' as const });
  expect(() => buildRetry({ name: 'ask' }, pause, [decline('a'), decline('b')])).toThrow(
    'There is no question "b".',
  );
});

test('an answer is not kept: the same question in a later round and in a later call is put to the source again', async () => {
  let asked = 0;
  const counting: AnswerSource = {
    name: 'counting',
    answer({ questions }) {
      asked += 1;
      return new Map(
        questions.map(({ key }) => [key, { action: 'accept', content: { city: `Town ${asked}` } }]),
      );
    },
  };
  const same = asks({ a: form('Which city?') }, 's');
  for (const expected of [
    ['Town 1', 'Town 2'],
    ['Town 3', 'Town 4'],
  ]) {
    playing.play(same, same);
    await callTool(connected.client, { name: 'ask' }, { answers: counting });
    const sent = playing.calls.flatMap(({ params }) => params.inputResponses?.['a']?.content?.['city'] ?? []);
    expect(sent).toEqual(expected);
  }
});

test('an optional field without an entry is left out, and a required one takes its default', async () => {
  const properties = {
    city: { type: 'string' },
    floor: { type: 'integer', default: 2 },
    nights: { type: 'integer', default: 1 },
  };
  playing.play(asks({ a: form('Where?', properties, { required: ['city', 'nights'] }) }));
  await callTool(
    connected.client,
    { name: 'ask' },
    { answers: fixtureAnswers({ fields: { city: 'Rome' } }) },
  );
  expect(playing.calls[1]?.params.inputResponses).toEqual({
    a: { action: 'accept', content: { city: 'Rome', nights: 1 } },
  });
});

test('a sixth round is not answered unless it is said otherwise', async () => {
  const answers = fixtureAnswers({ fields: { city: 'Rome' } });
  const rounds = () => Array.from({ length: 6 }, () => asks({ a: form('Which city?') }));
  playing.play(...rounds());
  const ended = await callTool(connected.client, { name: 'ask' }, { answers });
  expect(ended).toMatchObject({ end: { kind: 'unanswered' }, rounds: { length: 5 } });
  playing.play(...rounds());
  const on = await callTool(connected.client, { name: 'ask' }, { answers, maxRounds: 6 });
  expect(on).toMatchObject({ end: { kind: 'result' }, rounds: { length: 6 } });
});
