/** Parses a typed line: a message, an answer, a field of the open form, or a command. Pure. */
import type { ApprovalDetails } from '@interlude-ai/core/elicitation/approval.ts';
import type { Action, Remember } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Asking } from './question-card.ts';

export type Input =
  | { kind: 'nothing' }
  | { kind: 'message'; text: string }
  | { kind: 'answer'; action: Action; details?: ApprovalDetails }
  /** For the open form. */
  | { kind: 'field'; line: string }
  | { kind: 'stop' | 'quit' | 'help' }
  | { kind: 'unknown'; command: string };

/**
 * While a form is open, every line except a known command is the value of a field. While another question is open, a
 * bare `n` or `c` answers it, and Enter does if the question is a page. Anything else is a message.
 */
export function readInput(line: string, asked: Asking['kind'] | undefined): Input {
  const text = line.trim();
  const command = readCommand(text);
  if (command) return command;
  if (asked === 'form') return { kind: 'field', line };
  const word = text.toLowerCase();
  const decided = asked === 'approval' ? readApproval(text) : undefined;
  if (decided) return decided;
  if (asked && (word === 'n' || word === 'c')) return readInput(`/${word}`, asked);
  if (asked === 'page' && (word === '' || word === 'y')) return { kind: 'answer', action: 'accept' };
  if (word === '') return { kind: 'nothing' };
  return text.startsWith('/')
    ? { kind: 'unknown', command: text.split(/\s/, 1)[0] ?? text }
    : { kind: 'message', text };
}

const remembered = new Map<string, Remember | undefined>([
  ['y', undefined],
  ['yes', undefined],
  ['yc', 'conversation'],
  ['ya', 'always'],
]);

/** Enter alone approves nothing. */
function readApproval(text: string): Input | undefined {
  const word = text.toLowerCase();
  if (remembered.has(word)) {
    const remember = remembered.get(word);
    return { kind: 'answer', action: 'accept', ...(remember && { details: { remember } }) };
  }
  const [, reason] = /^\/?no?[ ,:]+(.+)$/is.exec(text) ?? [];
  if (reason === undefined) return undefined;
  return { kind: 'answer', action: 'decline', details: { reason: reason.slice(0, 1000) } };
}

function readCommand(text: string): Input | undefined {
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
