/** What a line that somebody typed means. */
import type { Action } from '../../src/elicitation/elicitation.ts';

export type Entry =
  | { kind: 'nothing' }
  | { kind: 'message'; text: string }
  | { kind: 'answer'; action: Exclude<Action, 'accept'> }
  | { kind: 'stop' | 'quit' | 'help' }
  | { kind: 'unknown'; command: string };

/** A bare `n` or `c` is an answer only while there is a question; otherwise it is something to say. */
export function readEntry(line: string, isAsked: boolean): Entry {
  const text = line.trim();
  const word = text.toLowerCase();
  if (isAsked && (word === 'n' || word === 'c')) return readEntry(`/${word}`, true);
  switch (word) {
    case '':
      return { kind: 'nothing' };
    case '/n':
    case '/decline':
      return { kind: 'answer', action: 'decline' };
    case '/c':
    case '/cancel':
      return { kind: 'answer', action: 'cancel' };
    case '/stop':
    case '/quit':
    case '/help':
      return { kind: word.slice(1) as 'stop' | 'quit' | 'help' };
    default:
      return text.startsWith('/')
        ? { kind: 'unknown', command: text.split(/\s/, 1)[0] ?? text }
        : { kind: 'message', text };
  }
}
