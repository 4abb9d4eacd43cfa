import { readUIMessageStream, uiMessageChunkSchema } from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import { readUIMessageStream as readWithVersion5, uiMessageChunkSchema as schemaOfVersion5 } from 'ai5';
import { readUIMessageStream as readWithVersion6, uiMessageChunkSchema as schemaOfVersion6 } from 'ai6';
import { describe, expect, test } from 'vitest';
import { foldMessage } from '../../../src/api/ui-message/turn-message.ts';
import type { Capabilities, ElicitationEvent, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';
import { chunksFor } from './log.ts';

const everything: Capabilities = { url: true, form: true };
const nothing: Capabilities = { url: false, form: false };

const context = {
  trigger: 'credential_required',
  agent: 'Assistant',
  server: 'tracker',
  serverTitle: 'Tracker',
  host: 'tracker.example',
} as const;

function question(status: Status): ElicitationEvent {
  return {
    type: 'elicitation-request',
    elicitationId: 'e1',
    mode: 'url',
    url: 'https://interlude.example/auth/connect?e=e1',
    message: 'Tracker needs your account.',
    context,
    status,
    expiresAt: '2026-11-21T10:00:00.000Z',
  };
}

const form: ElicitationEvent = {
  type: 'elicitation-request',
  elicitationId: 'e2',
  mode: 'form',
  requestedSchema: { type: 'object', properties: {} },
  message: 'Which project?',
  context,
  status: 'pending',
  expiresAt: '2026-11-21T10:00:00.000Z',
};

const wholeTurn: TurnEvent[] = [
  { type: 'turn-started', agent: 'assistant', messageId: 'm1' },
  { type: 'start-step', step: 1 },
  { type: 'reasoning-start', id: 'r1' },
  { type: 'reasoning-delta', id: 'r1', delta: 'They want ' },
  { type: 'reasoning-delta', id: 'r1', delta: 'issues.' },
  { type: 'reasoning-end', id: 'r1' },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'Let me ' },
  { type: 'text-delta', id: 't1', delta: 'look.' },
  { type: 'text-end', id: 't1' },
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'tracker__list', input: { state: 'open' } },
  { type: 'tool-input-available', toolCallId: 'c2', toolName: 'tracker__count', input: {} },
  question('pending'),
  form,
  question('accept'),
  {
    type: 'tool-output-available',
    toolCallId: 'c1',
    toolName: 'tracker__list',
    output: { content: [{ type: 'text', text: '3 issues' }] },
  },
  { type: 'tool-output-error', toolCallId: 'c2', toolName: 'tracker__count', errorText: 'no such tool' },
  { type: 'finish-step', step: 1 },
  { type: 'start-step', step: 2 },
  { type: 'text-start', id: 't2' },
  { type: 'text-delta', id: 't2', delta: 'There are 3.' },
  { type: 'text-end', id: 't2' },
  { type: 'finish-step', step: 2 },
  { type: 'turn-ended', status: 'completed', usage: { inputTokens: 1, outputTokens: 2 } },
];

const failedTurn: TurnEvent[] = [
  ...wholeTurn.slice(0, 8),
  { type: 'error', code: 'model_unreachable', errorText: 'The model cannot be reached.' },
  question('cancel'),
  { type: 'turn-ended', status: 'failed' },
];

const cancelledTurn: TurnEvent[] = [
  ...wholeTurn.slice(0, 13),
  question('cancel'),
  { type: 'turn-ended', status: 'cancelled' },
];

const repeatedStep: TurnEvent[] = [
  ...wholeTurn.slice(0, 8),
  { type: 'reset-step', step: 1 },
  { type: 'start-step', step: 1 },
  { type: 'text-start', id: 't1b' },
  { type: 'text-delta', id: 't1b', delta: 'Looking.' },
  { type: 'text-end', id: 't1b' },
  { type: 'finish-step', step: 1 },
  { type: 'turn-ended', status: 'completed' },
];

const turns = { wholeTurn, failedTurn, cancelledTurn, repeatedStep };

function translate(events: TurnEvent[], capabilities = everything): UIMessageChunk[] {
  return chunksFor({ capabilities }, events);
}

function streamOf(chunks: UIMessageChunk[]): ReadableStream<UIMessageChunk> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
}

async function last(messages: AsyncIterable<unknown>): Promise<unknown> {
  let latest: unknown;
  for await (const message of messages) latest = message;
  return JSON.parse(JSON.stringify(latest));
}

interface Schema {
  validate?: ((value: unknown) => { success: boolean } | PromiseLike<{ success: boolean }>) | undefined;
}

const schemas: Record<string, Schema> = {
  'version 5': schemaOfVersion5(),
  'version 6': schemaOfVersion6(),
  'version 7': uiMessageChunkSchema(),
};

describe.each(Object.entries(schemas))('AI SDK %s', (_, schema) => {
  test.each(Object.entries(turns))('accepts every chunk of %s', async (_name, events) => {
    const chunks = translate(events);
    expect(chunks.length).toBeGreaterThan(5);
    for (const chunk of chunks) {
      const checked = await schema.validate?.(chunk);
      expect({ chunk, isAccepted: checked?.success }).toEqual({ chunk, isAccepted: true });
    }
  });

  test('refuses a chunk type of our own, which is why questions travel as data parts', async () => {
    expect(await schema.validate?.({ type: 'elicitation-request' })).toMatchObject({ success: false });
  });
});

/** The versions' own types differ in names only; what they are given here is checked above. */
type Reader = (options: { stream: ReadableStream<never> }) => AsyncIterable<unknown>;

const readers: Record<string, Reader> = {
  'version 5': readWithVersion5,
  'version 6': readWithVersion6,
  'version 7': readUIMessageStream,
};

describe.each(Object.entries(readers))('a client on AI SDK %s', (_, read) => {
  test.each(['wholeTurn', 'cancelledTurn'] as const)(
    'ends up with the very message that stream: false answers with (%s)',
    async (name) => {
      const chunks = translate(turns[name]);
      const message = (await last(read({ stream: streamOf(chunks) as ReadableStream<never> }))) as UIMessage;
      expect(withoutIds(message)).toEqual(withoutIds(foldMessage(chunks)));
    },
  );

  test('sees one card per question, in its newest state', async () => {
    const stream = streamOf(translate(wholeTurn)) as ReadableStream<never>;
    const message = (await last(read({ stream }))) as UIMessage;
    const cards = message.parts.filter((part) => part.type === 'data-elicitation-request');
    expect(cards).toMatchObject([
      { id: 'e1', data: { status: 'accept' } },
      { id: 'e2', data: { status: 'pending' } },
    ]);
  });
});

/** Version 5 repeats a reasoning part's stream id in the message. */
function withoutIds({ id, role, parts }: UIMessage): unknown {
  const plain = parts.map((part) => (part.type === 'reasoning' ? { ...part, id: undefined } : part));
  return JSON.parse(JSON.stringify({ id, role, parts: plain }));
}

test('a reader that cannot ask gets no question', () => {
  expect(JSON.stringify(translate(wholeTurn, nothing))).not.toContain('elicitation');
});

test('a reader gets the modes it can present and no others', () => {
  const chunks = translate(wholeTurn, { url: true, form: false });
  const ids = chunks.flatMap((chunk) => (chunk.type === 'data-elicitation-request' ? [chunk.id] : []));
  expect(ids).toEqual(['e1', 'e1']);
});

test('a question is the neutral event itself', () => {
  expect(translate([question('pending')])).toEqual([
    { type: 'data-elicitation-request', id: 'e1', data: question('pending') },
  ]);
});

test('a failed turn closes its open text, then says what went wrong, then finishes', () => {
  expect(translate(failedTurn).slice(-4)).toEqual([
    { type: 'data-elicitation-request', id: 'e1', data: question('cancel') },
    { type: 'text-end', id: 't1' },
    { type: 'error', errorText: 'The model cannot be reached.' },
    { type: 'finish' },
  ]);
});

test('a failed turn that left no reason is an error all the same', () => {
  const chunks = translate([{ type: 'turn-ended', status: 'failed' }]);
  expect(chunks.map(({ type }) => type)).toEqual(['error', 'finish']);
});

test.each(['cancelled', 'superseded'] as const)('a %s turn is an abort and never a finish', (status) => {
  const chunks = translate([...wholeTurn.slice(0, 8), { type: 'turn-ended', status }]);
  expect(chunks.slice(-2)).toEqual([{ type: 'text-end', id: 't1' }, { type: 'abort' }]);
});

test('a delta of a part that was never opened is left out, for it would kill the client', () => {
  expect(translate([{ type: 'text-delta', id: 'gone', delta: 'x' }])).toEqual([]);
});
