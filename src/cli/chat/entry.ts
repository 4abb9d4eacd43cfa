/** What a line that somebody typed means. */
import type { Action } from '../../elicitation/elicitation.ts';
import type { Asking } from './question-card.ts';

export type Entry =
  | { kind: 'nothing' }
  | { kind: 'message'; text: string }
  | { kind: 'answer'; action: Action }
  /** For the form that is being filled in. */
  | { kind: 'field'; line: string }
  | { kind: 'stop' | 'quit' | 'help' }
  | { kind: 'unknown'; command: string };

/**
 * In a form a line is an answer, and only what is known as a command is one. Elsewhere a bare `n` or `c` is an answer
 * while there is a question, as is Enter where a page has to be done with; otherwise it is something to say.
 */
export function readEntry(line: string, asked: Asking['kind'] | undefined): Entry {
  const text = line.trim();
  const command = readCommand(text);
  if (command) return command;
  if (asked === 'form') return { kind: 'field', line };
  const word = text.toLowerCase();
  if (asked && (word === 'n' || word === 'c')) return readEntry(`/${word}`, asked);
  if (asked === 'page' && (word === '' || word === 'y')) return { kind: 'answer', action: 'accept' };
  if (word === '') return { kind: 'nothing' };
  return text.startsWith('/')
    ? { kind: 'unknown', command: text.split(/\s/, 1)[0] ?? text }
    : { kind: 'message', text };
}

function readCommand(text: string): Entry | undefined {
  const [command = '', ...words] = text.split(/\s+/);
  const rest = text.slice(command.length).trim();
  if (command.toLowerCase() === '/new')
    return rest === '' ? { kind: 'help' } : { kind: 'message', text: rest };
  if (words.length > 0) return undefined;
  switch (command.toLowerCase()) {
    case '/n':
    case '/decline':
      return { kind: 'answer', action: 'decline' };
    case '/c':
    case '/cancel':
      return { kind: 'answer', action: 'cancel' };
    case '/stop':
      return { kind: 'stop' };
    case '/quit':
      return { kind: 'quit' };
    case '/help':
      return { kind: 'help' };
    default:
      return undefined;
  }
}
