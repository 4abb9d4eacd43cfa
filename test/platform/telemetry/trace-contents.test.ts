/** What traces must not say: nothing that a person, a model or a server has said, and no secret. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { Reply } from '../../servers/openai-server.ts';
import { asks, done, form } from '../../servers/scripted-mcp-server.ts';
import { answer } from '../../servers/raw-mcp-server.ts';
import { hasEnded, startExporting } from './exporting.ts';
import type { Exporting } from './exporting.ts';
import type { ExportedSpan } from './otlp-receiver.ts';

const replies: Reply[] = [];
const model = await createOpenAIServer({
  reply: () => replies.shift() ?? { kind: 'text', chunks: ['Fine.'] },
});
let exporting: Exporting;
beforeAll(async () => {
  exporting = await startExporting();
});
afterAll(async () => {
  await exporting.stop();
  await model.stop();
});
beforeEach(() => exporting.clear());

const setup = useAskingService({
  env: {
    INTERLUDE_CONFIG: fileURLToPath(new URL('../../fixtures/trace-agents.yaml', import.meta.url)),
    MODEL_URL: model.baseURL,
    ASKING_QUERY: '?key=planted-in-query',
  },
});

async function traced(turn: Awaited<ReturnType<typeof setup.begin>>): Promise<ExportedSpan[]> {
  await turn.end();
  return exporting.trace(turn.stream.turnId, hasEnded);
}

test('nothing that was planted is in any byte of a trace', async () => {
  const turn = await setup.begin(
    [
      asks({ key: form('planted-in-question?', { city: { type: 'string', title: 'planted-in-form' } }) }),
      { ...done('planted-in-result'), isError: true },
    ],
    { input: { note: 'planted-in-arguments' }, headers: { 'x-note': 'planted-in-header' } },
  );
  await turn.answer(0, { action: 'accept', content: { city: 'planted-in-answer' } });
  const spans = await traced(turn);
  expect(spans.find(({ isError }) => isError)).toMatchObject({
    name: 'execute_tool ask',
    attributes: { 'error.type': 'tool_error' },
    message: '',
  });
  expect(spans.filter(({ name }) => name === 'POST').length).toBeGreaterThan(1);
  const bytes = exporting.bytes();
  expect(bytes.includes('elicitation.completed')).toBe(true);
  expect(bytes.includes('planted')).toBe(false);
  expect(bytes.includes((await setup.service.token('alice')).slice(0, 30))).toBe(false);
});

test('what a server says of its failure is not in the trace, only that it has failed', async () => {
  const turn = await setup.begin([
    (message, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: 'planted' } })),
  ]);
  const spans = await traced(turn);
  expect(spans.find(({ name }) => name === 'execute_tool ask')).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'unknown' },
  });
  expect(exporting.bytes().includes('planted')).toBe(false);
});

test.each<[string, Reply]>([
  ['breaks off', { kind: 'cut', chunks: ['planted'] }],
  [
    'reports an error in the middle',
    { kind: 'error-chunk', chunks: ['Well'], error: { message: 'planted' } },
  ],
  ['refuses', { kind: 'status', status: 503, body: { error: { message: 'planted', type: 'planted' } } }],
])('a model that %s leaves one span with an error, and its repetition another', async (_, reply) => {
  replies.push(reply);
  const turn = await setup.begin([], { text: 'planted words', agentId: 'writer' });
  const chats = (await traced(turn)).filter(({ name }) => name === 'chat some-model');
  expect(chats).toMatchObject([
    { isError: true, message: '', attributes: { 'error.type': 'ModelUnavailable', 'interlude.attempt': 1 } },
    {
      isError: false,
      attributes: {
        'gen_ai.provider.name': 'openai-compatible',
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
        'interlude.attempt': 2,
      },
    },
  ]);
  expect(exporting.bytes().includes('planted')).toBe(false);
});

test('a turn does not wait for an exporter that does not answer', async () => {
  const hanging = exporting.hang();
  const turn = await setup.begin([asks({ key: form('Which city?') })]);
  await turn.answer(0, { action: 'accept', content: { city: 'Lisbon' } });
  await turn.end();
  expect(exporting.spans).toEqual([]);
  hanging.go();
  expect(hasEnded(await traced(turn))).toBe(true);
});

test('a server whose answer comes late is one span for one call', async () => {
  const turn = await setup.begin([(message, response) => setImmediate(answer, message, response, done())]);
  const spans = await traced(turn);
  expect(spans.filter(({ name }) => /execute_tool|tools\/call/.test(name))).toHaveLength(1);
});
