/** A provider that rejects what is in a request: the turn goes on without it, and so do the turns after it. */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { finishToolCall, requestedToolCall } from '../../../src/activities/tool-results.ts';
import { createToolFitter } from '../../../src/activities/call-model/agent-tools.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { ChatRequest, Reply } from '../../servers/openai-server.ts';
import { refuseWhileBusy } from '../../storage/contract/fixtures.ts';
import { agent, listIssues, openModelStep, turn } from './model-step.ts';
import type { ModelStep } from './model-step.ts';

const rejects = (message: string, more: object = {}, status = 400): Reply => ({
  kind: 'status',
  status,
  body: { error: { message, type: 'invalid_request_error', ...more } },
});
const says = (text: string): Reply => ({ kind: 'text', chunks: [text] });
const calls = (args = '{}'): Reply => ({
  kind: 'tool-calls',
  calls: [{ id: 'a', name: 'tracker__list_issues', arguments: args }],
});

/** The first step has called the tool, which has returned this. */
async function afterResult(it: ModelStep, text: string): Promise<void> {
  await it.callModel();
  const call = await requestedToolCall(it.storage, turn, 'a');
  const parts = { storage: it.storage, logger: pino({ level: 'silent' }) };
  await finishToolCall(parts, turn, call, {
    kind: 'output',
    output: { content: [{ type: 'text', text }] },
  });
}

const resultsIn = ({ messages }: ChatRequest) =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
const toolsIn = ({ tools = [] }: ChatRequest) => tools.map((tool) => tool.function.name);
const warningsOf = (it: ModelStep) =>
  it
    .logged()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { level: number; msg: string }]))
    .filter(({ level }) => level === 40);
const leftOut = /^The tool ran, but its result is left out/;

describe('a conversation that the provider rejects', () => {
  test('goes on without what came since the last good step, in this turn and in the next', async () => {
    await using it = await openModelStep(
      calls(),
      rejects('Could not process image'),
      says('I could not see it.'),
      says('Hello again.'),
    );
    await afterResult(it, 'poison');
    expect(await it.callModel({ step: 1 })).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
    expect(it.server.requests.map(({ body }) => resultsIn(body))).toEqual([
      [],
      ['poison'],
      [expect.stringMatching(leftOut)],
    ]);
    const [warning, ...others] = warningsOf(it);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({
      notSent: ['the result of the tool "list_issues" of server "tracker"'],
      said: 'Could not process image',
      status: 400,
    });
    expect(warning?.msg).not.toContain('poison');
    // People still have all of it.
    const outputs = (await it.events()).filter(({ type }) => type === 'tool-output-available');
    expect(JSON.stringify(outputs)).toContain('poison');

    const next = { ...turn, turnId: 't2' };
    const message = { id: 'm2', role: 'user' as const, content: 'And now?' };
    await it.storage.turns.prepare({ ...next, clientMessageId: 'm2', messages: [message] }, refuseWhileBusy);
    await it.storage.turns.begin(next);
    await it.callModel({ of: next });
    expect(it.server.requests).toHaveLength(4);
    expect(resultsIn(it.server.requests[3]!.body)).toEqual([expect.stringMatching(leftOut)]);
  });

  test('of too many bytes goes on without what was too much', async () => {
    await using it = await openModelStep(
      calls(),
      rejects('request_too_large', {}, 413),
      says('It was too large.'),
    );
    await afterResult(it, 'much');
    await it.callModel({ step: 1 });
    expect(resultsIn(it.server.requests[2]!.body)).toEqual([expect.stringMatching(leftOut)]);
  });

  test('is rejected once more by the attempt after a worker that died, which ends the same way', async () => {
    const rejected = rejects('bad content', {}, 422);
    await using it = await openModelStep(calls(), rejected, says('one'), rejected, says('two'));
    await afterResult(it, 'poison');
    const { steps } = it.storage;
    const keep = () => Promise.reject(new Error('the process died here'));
    const dying: Storage = { ...it.storage, steps: { ...steps, keep } };
    await expect(it.callModel({ step: 1, storage: dying })).rejects.toThrow('the process died here');
    expect((await it.storage.messages.list(turn)).some((message) => message.leftOut)).toBe(false);
    await it.callModel({ step: 1, attempt: 2 });
    expect((await it.storage.messages.list(turn)).map((message) => message.leftOut)).toEqual([
      undefined,
      undefined,
      'results',
      undefined,
    ]);
    // A third attempt answers from what is kept.
    await it.callModel({ step: 1, attempt: 3 });
    expect(it.server.requests).toHaveLength(5);
  });

  test('that is rejected without it, too, fails as at first, and keeps everything', async () => {
    await using it = await openModelStep(calls(), rejects('no such setting'), rejects('something else'));
    await afterResult(it, 'sound');
    await expect(it.callModel({ step: 1 })).rejects.toMatchObject({ type: 'ModelRefusedRequest' });
    expect(it.server.requests).toHaveLength(3);
    expect(it.logged()).toContain('It said: no such setting');
    expect((await it.storage.messages.list(turn)).some((message) => message.leftOut)).toBe(false);
  });

  test.each<[string, Reply]>([
    ['too long', rejects('This model has a maximum context length of 8192 tokens')],
    ['too long, in other words', rejects('prompt is too long: 210000 tokens > 200000 maximum')],
    ['against the policy', rejects('no', { code: 'content_filter' })],
    ['for a key that is wrong', rejects('no', {}, 401)],
    ['for a model that is not there', rejects('no', { code: 'model_not_found' }, 404)],
  ])('because it is %s is left as it is', async (_, reply) => {
    await using it = await openModelStep(calls(), reply, says('never'));
    await afterResult(it, 'sound');
    await expect(it.callModel({ step: 1 })).rejects.toMatchObject({ name: 'ApplicationFailure' });
    expect(it.server.requests).toHaveLength(2);
  });
});

describe('a tool that the provider rejects', () => {
  const other = { ...listIssues, modelName: 'tracker__other', tool: 'other' };
  test.each<[string, Reply]>([
    ['by its name', rejects("Invalid schema for function 'tracker__other': array schema missing items.")],
    ['by its place', rejects('Invalid', { param: 'tools[1].function.parameters' })],
    ['as Anthropic does', rejects('tools.1.custom.input_schema: JSON schema is invalid')],
    [
      'as Google does',
      {
        kind: 'status',
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: '* tools[0].function_declarations[1].parameters: bad',
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
      },
    ],
    [
      'through a gateway',
      rejects('Provider returned error', {
        metadata: { raw: '{"error":{"message":"Invalid schema for function \'tracker__other\'"}}' },
      }),
    ],
  ])('%s is left out, and the operator reads which', async (_, reply) => {
    await using it = await openModelStep(reply, says('done'));
    await it.callModel({ tools: [listIssues, other] });
    expect(it.server.requests.map(({ body }) => toolsIn(body))).toEqual([
      ['tracker__list_issues', 'tracker__other'],
      ['tracker__list_issues'],
    ]);
    expect(warningsOf(it)).toEqual([
      expect.objectContaining({
        server: 'tracker',
        toolName: 'other',
        msg: expect.stringContaining('did not accept the tool "other" of server "tracker"'),
      }),
    ]);
  });

  test('is not offered again, until its schema changes', () => {
    const fitter = createToolFitter({ providers: {}, logger: { warn: () => undefined } });
    const [tool] = fitter.fit(agent, [other]);
    fitter.reject(agent, tool!);
    expect(fitter.fit(agent, [listIssues, other]).map(({ modelName }) => modelName)).toEqual([
      'tracker__list_issues',
    ]);
    expect(fitter.fit(agent, [{ ...other, inputSchema: { type: 'object', required: ['a'] } }])).toHaveLength(
      1,
    );
    expect(fitter.fit({ ...agent, model: 'anthropic:x' }, [other])).toHaveLength(1);
  });

  test('that is none of those offered is no reason to ask again', async () => {
    await using it = await openModelStep(rejects("Invalid schema for function 'stranger'"), says('never'));
    await expect(it.callModel()).rejects.toMatchObject({ type: 'ModelRefusedRequest' });
    expect(it.server.requests).toHaveLength(1);
  });
});

test('arguments under names that the provider accepts are stored and shown under those of the server', async () => {
  await using it = await openModelStep(calls('{"filter_name":"x"}'));
  const inputSchema = { type: 'object', properties: { 'filter[name]': { type: 'string' } } };
  await it.callModel({ tools: [{ ...listIssues, inputSchema }] });
  expect(it.server.requests[0]?.body.tools?.[0]?.function.parameters).toMatchObject({
    properties: { filter_name: { type: 'string' } },
  });
  expect(await it.storage.toolCalls.get(turn, 'a')).toMatchObject({ input: { 'filter[name]': 'x' } });
  expect(await it.events()).toContainEqual(
    expect.objectContaining({ type: 'tool-input-available', input: { 'filter[name]': 'x' } }),
  );
});

test('half of a character in a text reaches no provider', async () => {
  await using it = await openModelStep(calls(), says('ok'));
  await afterResult(it, 'cut \ud83d');
  await it.callModel({ step: 1 });
  expect(resultsIn(it.server.requests[1]!.body)).toEqual(['cut \ufffd']);
});
