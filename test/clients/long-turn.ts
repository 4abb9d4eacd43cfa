/** A turn with a bit of everything in it, as its log says it. */
import type { ElicitationEvent, Status } from '../../src/elicitation/elicitation.ts';
import type { TurnEvent } from '../../src/turn/event.ts';
import { accountQuestion } from '../api/ui-message/log.ts';

function question(status: Status): ElicitationEvent {
  const asked = accountQuestion(status, 'list_issues');
  return { ...asked, context: { ...asked.context, reason: 'missing' } };
}

/** First letters of one, two, three and four bytes, and letters that are made of several. */
const words = [
  'Hello',
  'äußerst',
  '€uro',
  '😀 smile',
  '日本語',
  '👩‍👩‍👧‍👦',
  'é',
  'שלום',
  '\u2028line',
  '"\\\n\n\t\u0000',
];

function spoken(kind: 'text' | 'reasoning', id: string, times: number): TurnEvent[] {
  const deltas = Array.from({ length: times }, (_, index): TurnEvent => {
    return { type: `${kind}-delta`, id, delta: `${words[index % words.length]} ` };
  });
  return [{ type: `${kind}-start`, id }, ...deltas, { type: `${kind}-end`, id }];
}

const list = { toolCallId: 'c1', toolName: 'tracker__list_issues' };
const count = { toolCallId: 'c2', toolName: 'tracker__count' };

export const untilQuestion: TurnEvent[] = [
  { type: 'start-step', step: 0 },
  ...spoken('reasoning', 'r1', 10),
  ...spoken('text', 't1', 20),
  { type: 'tool-input-available', ...list, input: { state: 'öffen' } },
  { type: 'tool-input-available', ...count, input: {} },
  { type: 'finish-step', step: 0 },
  question('pending'),
];

export const afterQuestion: TurnEvent[] = [
  question('accept'),
  { type: 'tool-output-error', ...count, errorText: 'nö' },
  { type: 'tool-output-available', ...list, output: { content: [{ type: 'text', text: '#1 Größe' }] } },
  { type: 'start-step', step: 1 },
  ...spoken('text', 't2', 20),
  { type: 'finish-step', step: 1 },
];

/** Everything between the turn's start and its end. */
export const longTurn: TurnEvent[] = [...untilQuestion, ...afterQuestion];

const textOf = (id: string) =>
  longTurn.map((event) => ('delta' in event && event.id === id ? event.delta : '')).join('');

/** What a client shows of it, in the words of AI SDK UI messages. */
export const longMessage = [
  { type: 'step-start' },
  { type: 'reasoning', text: textOf('r1'), state: 'done' },
  { type: 'text', text: textOf('t1'), state: 'done' },
  {
    type: 'dynamic-tool',
    ...list,
    state: 'output-available',
    input: { state: 'öffen' },
    output: { content: [{ type: 'text', text: '#1 Größe' }] },
  },
  { type: 'dynamic-tool', ...count, state: 'output-error', input: {}, errorText: 'nö' },
  { type: 'data-elicitation-request', id: 'e1', data: question('accept') },
  { type: 'step-start' },
  { type: 'text', text: textOf('t2'), state: 'done' },
];
