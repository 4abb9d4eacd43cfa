/** A model call that is repeated after it said something: what is left of that on the screens of those who watched. */
import { readUIMessageStream, uiMessageChunkSchema } from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import { readUIMessageStream as readWithVersion5, uiMessageChunkSchema as schemaOfVersion5 } from 'ai5';
import { readUIMessageStream as readWithVersion6, uiMessageChunkSchema as schemaOfVersion6 } from 'ai6';
import { describe, expect, test } from 'vitest';
import { foldMessage } from '../../../src/api/ui-message/turn-message.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';
import { accountQuestion, chunksFor, toolCall } from './log.ts';

const said = (id: string, delta: string): TurnEvent[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta },
];
const thought = (id: string, delta: string): TurnEvent[] => [
  { type: 'reasoning-start', id },
  { type: 'reasoning-delta', id, delta },
  { type: 'reasoning-end', id },
];

const before: TurnEvent[] = [
  { type: 'turn-started', agent: 'assistant', messageId: 'm1' },
  { type: 'start-step', step: 0 },
  ...said('0.1.t', 'Let me look.'),
  { type: 'text-end', id: '0.1.t' },
  toolCall('c1', 'tracker__list'),
  { type: 'finish-step', step: 0 },
  { type: 'tool-output-available', toolCallId: 'c1', toolName: 'tracker__list', output: {} },
];
const broken: TurnEvent[] = [
  { type: 'start-step', step: 1 },
  ...thought('1.1.r', 'Hm.'),
  ...said('1.1.t', 'There '),
];
const repeated: TurnEvent[] = [
  { type: 'reset-step', step: 1 },
  { type: 'start-step', step: 1 },
  ...said('1.2.t', 'There are 3.'),
  { type: 'text-end', id: '1.2.t' },
  { type: 'finish-step', step: 1 },
  { type: 'turn-ended', status: 'completed' },
];
const watched = [...before, ...broken, ...repeated];
/** What broke is not in the log any more. */
const late = [...before, ...repeated];

type Read = (options: { stream: ReadableStream<never> }) => AsyncIterable<unknown>;

async function messageOf(chunks: UIMessageChunk[], read: Read = readUIMessageStream): Promise<UIMessage> {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  let latest: unknown;
  for await (const message of read({ stream: stream as ReadableStream<never> })) latest = message;
  return JSON.parse(JSON.stringify(latest)) as UIMessage;
}

const textsIn = ({ parts }: UIMessage) =>
  parts.flatMap((part) => (part.type === 'text' || part.type === 'reasoning' ? part.text : []));
const resetsIn = (chunks: UIMessageChunk[]) => chunks.filter(({ type }) => type === 'reset-step').length;

describe('a reader on AI SDK 7 that says it can take text back', () => {
  const chunks = chunksFor({ resets: true }, watched);

  test('has the same message as one that comes late, and as the answer in one piece', async () => {
    const message = await messageOf(chunks);
    expect(textsIn(message)).toEqual(['Let me look.', 'There are 3.']);
    expect(message).toEqual(await messageOf(chunksFor({ resets: true }, late)));
    expect(message.parts).toEqual(foldMessage(chunks).parts);
    expect(message.parts).toEqual(foldMessage(chunksFor({}, late)).parts);
  });

  test('keeps what came meanwhile and is as true as before', async () => {
    const asked = [...before, ...broken, accountQuestion('pending'), ...repeated];
    const message = await messageOf(chunksFor({ resets: true, operations: true }, asked));
    expect(textsIn(message)).toEqual(['Let me look.', 'There are 3.']);
    expect(message.parts.filter(({ type }) => type === 'data-elicitation-request')).toHaveLength(1);
    expect(message.parts.filter(({ type }) => type === 'data-operation')).toHaveLength(5);
  });

  test('is told of every repetition, whenever it comes', () => {
    const [reset, start] = repeated;
    const twice = [reset!, start!, ...said('1.2.t', 'So'), ...repeated];
    expect(resetsIn(chunksFor({ resets: true }, [...before, ...broken, ...twice]))).toBe(2);
    const chunksOfLate = chunksFor({ resets: true }, [...before, reset!, ...repeated]);
    expect(resetsIn(chunksOfLate)).toBe(2);
    expect(foldMessage(chunksOfLate)).toEqual(foldMessage(chunks));
  });

  test('is told nothing of what other agents take back among themselves', () => {
    const by = { path: ['researcher'], parentToolCallId: 'c1' };
    const delegated: TurnEvent[] = [
      { type: 'start-step', step: 1, ...by },
      { type: 'reset-step', step: 1, ...by },
    ];
    expect(resetsIn(chunksFor({ resets: true }, [...before, ...broken, ...delegated]))).toBe(0);
  });
});

describe.each<[string, Read]>([
  ['5', readWithVersion5],
  ['6', readWithVersion6],
  ['7', readUIMessageStream],
])('a reader on AI SDK %s that says nothing of the kind', (_, read) => {
  test('keeps what it has, marked and apart from what is said instead', async () => {
    const chunks = chunksFor({}, watched);
    expect(resetsIn(chunks)).toBe(0);
    const { parts } = await messageOf(chunks, read);
    expect(parts.slice(-5)).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'There ', state: 'done', providerMetadata: { interlude: { void: true } } },
      { type: 'step-start' },
      { type: 'text', text: 'There are 3.', state: 'done' },
    ]);
  });

  test('never sees it when it comes late', async () => {
    const message = await messageOf(chunksFor({}, late), read);
    expect(textsIn(message)).toEqual(['Let me look.', 'There are 3.']);
    expect(JSON.stringify(message)).not.toContain('void');
  });
});

test('only version 7 of the AI SDK takes the chunk, which is why it has to be asked for', async () => {
  const schemas = [schemaOfVersion5(), schemaOfVersion6(), uiMessageChunkSchema()];
  const checked = schemas.map(async ({ validate }) => (await validate?.({ type: 'reset-step' }))?.success);
  expect(await Promise.all(checked)).toEqual([false, false, true]);
});
