import { expect, test } from 'vitest';
import type { FeedItem } from '../../src/client/follow-feed.ts';
import { changesLines, addItems } from '../../src/playground/add-items.ts';

let seq = 0;
const item = (type: string, more: object = {}): FeedItem => ({
  seq: (seq += 1),
  event: {
    type,
    turnId: 't',
    at: '2026-11-22T10:00:00.000Z',
    toolName: 'list',
    ...more,
  } as FeedItem['event'],
});
const typesOf = (items: FeedItem[]) => items.map(({ event }) => event.type);

const before = [
  item('turn-started'),
  item('start-step', { step: 0 }),
  item('text-start', { id: '0.1' }),
  item('tool-input-available'),
  item('tool-output-available'),
];
const broken = [
  item('start-step', { step: 1 }),
  item('text-start', { id: '1.1' }),
  item('text-delta', { delta: 'Half' }),
];
const again = [
  item('reset-step', { step: 1 }),
  item('start-step', { step: 1 }),
  item('text-start', { id: '1.2' }),
  item('turn-ended', { status: 'completed' }),
];
const lines = (...batches: FeedItem[][]) =>
  batches.reduce<FeedItem[]>((shown, batch) => addItems(shown, batch.filter(changesLines)), []);

test('what a repeated model call took back is not among the events any more, in however many pieces they come', () => {
  const late = typesOf(lines([...before, ...again]));
  expect(late).toEqual([
    'turn-started',
    'text-start',
    'tool-input-available',
    'tool-output-available',
    'text-start',
    'turn-ended',
  ]);
  expect(typesOf(lines(before, broken, again))).toEqual(late);
  expect(typesOf(lines([...before, ...broken, ...again]))).toEqual(late);
});

test('what other agents and other turns say stays', () => {
  const other = [
    item('text-start', { path: ['researcher'], parentToolCallId: 'c1' }),
    item('text-start', { turnId: 'u' }),
  ];
  expect(lines(before, broken, other, again.slice(0, 1))).toEqual(lines(before, other));
});
