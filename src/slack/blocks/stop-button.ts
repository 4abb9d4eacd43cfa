/** A word to somebody whose turn is at work, with a button that stops it. Pure. */
import type { KnownBlock } from '@slack/types';
import { literal, marked } from './texts.ts';

export const stopAction = 'turn_stop';

/** The button's value is the thread; whose turn is stopped is whoever presses it. */
export function withStopButton(words: string, threadTs: string): KnownBlock[] {
  return [
    marked(words),
    {
      type: 'actions',
      elements: [{ type: 'button', action_id: stopAction, value: threadTs, text: literal('Stop') }],
    },
  ];
}
