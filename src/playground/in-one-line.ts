/** An event of the feed in one line for people; null for those that say nothing by themselves. Pure. */
import type { StreamEvent } from '../contract/stream-event.ts';

export interface Line {
  type: string;
  text: string;
  tone: 'plain' | 'good' | 'bad' | 'waiting';
}

export function inOneLine(event: StreamEvent): Line | null {
  const { type } = event;
  const line = (text: string, tone: Line['tone'] = 'plain'): Line => ({ type, text, tone });
  switch (type) {
    case 'turn-started':
      return line(String(event['agent'] ?? ''));
    case 'turn-ended':
      return line(String(event['status']), event['status'] === 'completed' ? 'good' : 'bad');
    case 'tool-input-available':
      return line(String(event['toolName']));
    case 'tool-output-available':
      return line('', 'good');
    case 'tool-output-error':
    case 'error':
      return line(String(event['errorText']), 'bad');
    case 'elicitation-request': {
      const isOpen = event['status'] === 'pending';
      return line(`${String(event['mode'])}: ${String(event['status'])}`, isOpen ? 'waiting' : 'plain');
    }
    case 'text-start':
      return line('…');
    case 'data-operation':
    case 'text-delta':
    case 'text-end':
    default:
      return null;
  }
}
