/** An event of the feed in one line for people; null for those that say nothing by themselves. Pure. */
import type { StreamEvent } from '../contract/stream-event.ts';
import { askerTitle } from '../elicitation/asker.ts';

export interface Line {
  type: string;
  text: string;
  tone: 'plain' | 'good' | 'bad' | 'waiting';
}

export function inOneLine(event: StreamEvent): Line | null {
  const { type } = event;
  const from = ((event['path'] ?? []) as string[]).map((agent) => `${agent} › `).join('');
  const line = (text: string, tone: Line['tone'] = 'plain'): Line => ({ type, text: from + text, tone });
  switch (type) {
    case 'turn-started':
      return line(String(event['agent'] ?? ''));
    case 'turn-ended':
      return line(String(event['status']), event['status'] === 'completed' ? 'good' : 'bad');
    case 'tool-input-available':
      return line(String(event['toolName']));
    case 'tool-output-available':
      return line(String(event['toolName'] ?? ''), 'good');
    case 'tool-output-error':
    case 'error':
      return line(String(event['errorText']), 'bad');
    case 'elicitation-request': {
      const context = Object(event['context']) as Record<string, string | undefined>;
      const { trigger } = context;
      const asker = askerTitle(context) ?? 'The agent';
      const isOpen = event['status'] === 'pending';
      return line(
        `${asker}, ${trigger === 'approval' ? trigger : String(event['mode'])}: ${String(event['status'])}`,
        isOpen ? 'waiting' : 'plain',
      );
    }
    case 'text-start':
      return line('');
    case 'data-operation':
    case 'text-delta':
    case 'text-end':
    default:
      return null;
  }
}

/** Since the turn began: `0.4 s`, `12 s`, `3 min`. */
export function elapsed(start: string, at: string): string {
  const seconds = Math.max(0, (Date.parse(at) - Date.parse(start)) / 1_000);
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  return seconds < 119.5 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
