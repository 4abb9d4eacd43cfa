/** A question whose context has its trigger and nothing else, wherever it is put into words. The widget has a test of its own. */
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { questionCard, settledLine, supersededLine } from '@interlude-ai/program/chat/question-card.ts';
import { StreamEventSchema } from '../../src/contract/stream-event.ts';
import type { ElicitationEvent } from '../../src/elicitation/elicitation.ts';
import { timelineOf } from '../../../../src/turn/timeline/timeline.ts';
import { lineOf } from '../../../../src/turn/timeline/words.ts';
import { operationOf } from '../../../../src/turn/operations.ts';

const question = {
  type: 'elicitation-request' as const,
  elicitationId: 'q1',
  mode: 'form' as const,
  message: 'Delete all 12 drafts?',
  requestedSchema: { type: 'object', properties: {} },
  context: { trigger: 'tool_elicitation' as const },
  status: 'pending' as const,
  expiresAt: '2026-11-21T12:10:00.000Z',
} satisfies ElicitationEvent;
const event = { ...question, turnId: 't', at: '2026-11-21T12:00:00.000Z' };

test('is what the feed may say', () => {
  expect(StreamEventSchema.safeParse(event)).toMatchObject({ success: true });
  expect(StreamEventSchema.safeParse({ ...event, context: {} }).success).toBe(false);
});

test('in the terminal it is the agent’s', () => {
  const asking = { kind: 'form', fieldCount: '0 fields' } as const;
  const card = questionCard(question, { asking, isInteractive: true, knowsForms: true }).join('\n');
  const settled = (['accept', 'decline', 'cancel', 'expired', 'pending'] as const).map((status) =>
    settledLine({ ...question, status }, false),
  );
  const text = stripVTControlCharacters([card, ...settled, supersededLine(question)].join('\n'));
  expect(text).toContain('    asked by The agent\n');
  expect(text).toContain('The agent is still asking.');
  expect(text).not.toContain('undefined');
});

test('in a timeline it is the agent’s', () => {
  const [item] = timelineOf([{ seq: 1, turnId: 't', at: 0, event: question }], { contents: false });
  expect(item && lineOf(item).title).toBe('The user was asked to answer the agent');
});

test('as an operation it names no server', () => {
  const operation = operationOf({ seq: 1, turnId: 't', at: 0, event: question }, 'assistant');
  expect(operation?.label).toBe('Waiting for the user: answer the agent');
  expect(operation?.details).not.toHaveProperty('server');
});
