/** A form in the terminal, one line for each field: the entry and the words of `interlude chat`. */
import type { Field } from '../../elicitation/form/field.ts';
import { beginForm, enterLine } from '../chat/form-entry.ts';
import { problemLine, stepLines, stepPrompt, takenLine } from '../chat/form-wording.ts';
import { bold, dim, promptLabel } from '../chat/wording.ts';
import type { Terminal } from './terminal.ts';

export type Filled =
  | { kind: 'filled'; content: Record<string, unknown> }
  | { kind: 'decline' | 'cancel' | 'no-input' };

/** A form of one field is sent with its line; longer ones are looked over first. */
export async function fillForm(
  terminal: Terminal,
  fields: readonly Field[],
  signal?: AbortSignal,
): Promise<Filled> {
  let entry = beginForm(fields);
  let shown: unknown;
  for (;;) {
    if (shown !== entry.at) for (const line of stepLines(entry)) terminal.line(line);
    shown = entry.at;
    const typed = await terminal.ask(`  ${promptLabel(stepPrompt(entry))}`, signal);
    if (typed === null) return { kind: 'no-input' };
    const word = typed.trim().toLowerCase();
    if (word === '/n' || word === '/decline') return { kind: 'decline' };
    if (word === '/c' || word === '/cancel') return { kind: 'cancel' };
    const step = enterLine(entry, typed);
    switch (step.kind) {
      case 'wrong':
        terminal.line(problemLine(step.why));
        break;
      case 'send':
        return { kind: 'filled', content: step.content };
      case 'answered': {
        const taken = takenLine(step.field, step.value, typed);
        if (taken !== undefined) terminal.line(taken);
        entry = step.entry;
        const isWhole = fields.length === 1 && entry.at.kind === 'review';
        if (isWhole)
          return {
            kind: 'filled',
            content: step.value === undefined ? {} : { [step.field.name]: step.value },
          };
        break;
      }
      case 'moved':
        entry = step.entry;
        break;
      default:
        return step satisfies never;
    }
  }
}

export function formKeys(fields: readonly Field[]): string {
  const key = (name: string, meaning: string) => `${bold(name)} ${dim(meaning)}`;
  const all = [key('/n', 'Not now'), key('/c', 'Dismiss')];
  return `  ${[...(fields.length > 1 ? [key('/back', 'the field before')] : []), ...all].join('    ')}`;
}
