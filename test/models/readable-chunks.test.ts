/** Streams of OpenAI-compatible servers as they really are. */
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../demo/listen.ts';
import { createModels } from '../../src/models/provider.ts';
import { streamStep } from '../../src/models/stream-step.ts';
import type { StepPart } from '../../src/models/stream-step.ts';

const done = '[DONE]';
const says = (content: unknown, more: object = {}, choice: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null, ...choice }],
  ...more,
});
const ends = (reason = 'stop') => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });

/** What one step of the model makes of these events. */
async function step(...events: unknown[]): Promise<StepPart[]> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      const data = typeof event === 'string' ? event : JSON.stringify(event);
      response.write(`: keep-alive\n\ndata: ${data}\n\n`);
    }
    response.end();
  });
  const { port, stop } = await listen(server, 0, 'none');
  onTestFinished(stop);
  const baseURL = `http://127.0.0.1:${port}/v1`;
  const models = createModels({
    providers: { 'openai-compatible': { baseURL, headers: {} } },
    configDir: '.',
    secret: () => undefined,
  });
  const spec = 'openai-compatible:m';
  const parts: StepPart[] = [];
  for await (const part of streamStep({
    model: await models(spec),
    identity: { spec, keyVariable: null },
    instructions: '',
    settings: {},
    messages: [{ role: 'user', content: 'Hello.' }],
    tools: [{ modelName: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } }],
    signal: new AbortController().signal,
    silenceLimits: { firstMs: 10_000, nextMs: 10_000 },
  }))
    parts.push(part);
  return parts;
}

const call = (called: object) =>
  says(null, {}, { delta: { tool_calls: [{ index: 0, id: 't1', type: 'function', function: called }] } });

test.each<[name: string, events: unknown[]]>([
  ['no reason for its end', [says('Hi'), done]],
  ['a reason that is empty', [says('Hi', {}, { finish_reason: '' }), done]],
  ['an error that is null', [says('Hi', { error: null }), ends(), done]],
  [
    'members that are null',
    [says('Hi', { usage: null, created: null, system_fingerprint: null }), ends(), done],
  ],
  ['members of another type', [says('Hi', { id: 7, created: '1', model: null }), ends(), done]],
  [
    'calls that are null',
    [says('Hi', {}, { delta: { content: 'Hi', tool_calls: null, function_call: null } }), ends(), done],
  ],
  ['another role', [says('Hi', {}, { delta: { role: 'model', content: 'Hi' } }), ends(), done]],
  ['a chunk without choices', [{ id: 'c1', choices: null, usage: null }, says('Hi'), ends(), done]],
  [
    'a choice without a delta',
    [says('Hi'), { choices: [{ index: 0, delta: null, finish_reason: 'stop' }] }, done],
  ],
  [
    'usage that is null',
    [
      says('Hi'),
      ends(),
      { choices: [], usage: { prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null } },
      done,
    ],
  ],
])('an answer with %s is complete', async (_, events) => {
  const parts = await step(...events);
  expect(parts).toContainEqual({ type: 'text-delta', id: expect.anything(), delta: 'Hi' });
  expect(parts.at(-1)).toMatchObject({ type: 'done', finish: 'stop' });
});

test.each<[name: string, events: unknown[]]>([
  ['no reason for its end', [call({ name: 'look', arguments: '{}' }), done]],
  ['an object for its arguments', [call({ name: 'look', arguments: {} }), ends('tool_calls'), done]],
  [
    'members that are null',
    [call({ name: 'look', arguments: '{}', description: null }), ends('tool_calls'), done],
  ],
])('a call with %s is made', async (_, events) => {
  expect((await step(...events)).at(-1)).toMatchObject({
    type: 'done',
    finish: 'tool-calls',
    content: [{ type: 'tool-call', toolName: 'look', input: {} }],
  });
});

test('an answer that is neither ended nor done was cut off', async () => {
  await expect(step(says('Hi'))).rejects.toMatchObject({ name: 'ModelCallError' });
});

test('an error in place of a chunk is one', async () => {
  await expect(step(says('Hi'), { error: { message: 'overloaded', type: 'x' } }, done)).rejects.toMatchObject(
    { name: 'ModelCallError' },
  );
});
