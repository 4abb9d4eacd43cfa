import { uiMessageChunkSchema } from 'ai';
import { uiMessageChunkSchema as schemaOfVersion5 } from 'ai5';
import { expect, test } from 'vitest';
import { foldMessage } from '../../../src/api/ui-message/turn-message.ts';
import { OperationSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';
import { accountQuestion, chunksFor, toolCall } from './log.ts';

const turn: TurnEvent[] = [
  { type: 'turn-started', agent: 'assistant', messageId: 'm1' },
  { type: 'start-step', step: 0 },
  toolCall('c1', 'tracker__list_issues'),
  { type: 'finish-step', step: 0 },
  accountQuestion('pending', 'list_issues'),
  accountQuestion('accept', 'list_issues'),
  { type: 'tool-output-available', toolCallId: 'c1', toolName: 'tracker__list_issues', output: {} },
  { type: 'turn-ended', status: 'completed' },
];

const nameOf = (chunk: { type: string; id?: string }) =>
  chunk.type === 'data-operation' ? chunk.id : chunk.type;

test('each operation comes right before what it describes, named after its place in the log', () => {
  expect(chunksFor({ operations: true }, turn).map(nameOf)).toEqual([
    'start',
    'op-step-t-0',
    'start-step',
    'op-3',
    'tool-input-available',
    'finish-step',
    'op-5',
    'data-elicitation-request',
    'op-6',
    'data-elicitation-request',
    'op-7',
    'tool-output-available',
    'finish',
  ]);
});

test('operations stay in the message, and every client takes them', async () => {
  const chunks = chunksFor({ operations: true }, turn).filter(({ type }) => type === 'data-operation');
  expect(chunks).toHaveLength(5);
  for (const chunk of chunks) {
    expect('transient' in chunk).toBe(false);
    expect(OperationSchema.safeParse('data' in chunk ? chunk.data : null).success).toBe(true);
    for (const schema of [uiMessageChunkSchema(), schemaOfVersion5()])
      expect(await schema.validate?.(chunk)).toMatchObject({ success: true });
  }
});

test('a replay puts each operation in its place instead of adding it again', () => {
  const chunks = chunksFor({ operations: true }, turn);
  const again = foldMessage([...chunks.slice(1), ...chunks]);
  expect(again.parts.filter(({ type }) => type === 'data-operation')).toHaveLength(5);
});

test('a reader that did not ask for operations gets none', () => {
  expect(chunksFor({ operations: false }, turn).map(nameOf)).not.toContainEqual(
    expect.stringMatching(/^op-/),
  );
});
