/**
 * Questions to the person who runs the command: prompts of @clack/prompts at a terminal, lines of a pipe otherwise. Text of servers
 * loses its control codes.
 */
import { styleText } from 'node:util';
import { isCancel, multiselect, password, select, text } from '@clack/prompts';
import type { CANCEL_SYMBOL, CommonOptions } from '@clack/prompts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { defaultsOf } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { isSecretName } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { notesOf, problemWith } from '@interlude-ai/core/elicitation/form/shown-field.ts';
import { typedValue } from '@interlude-ai/core/elicitation/form/typed-value.ts';
import { wordsFor } from '@interlude-ai/core/elicitation/words.ts';
import { SourceError } from '../answers/source.ts';
import { bold, dim, oneLine } from '../terminal/terminal-text.ts';
import { abortable } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const words = wordsFor('en');

// `typed`: in a pipe, the lines that choose it.
export const notNow = { value: 'decline', label: 'Not now', typed: ['n', '/n', 'no', '/decline'] } as const;
export const dismiss = { value: 'cancel', label: 'Dismiss', typed: ['c', '/c', '/cancel'] } as const;

export async function choose<Value extends string>(
  terminal: Terminal,
  message: string,
  options: readonly { value: Value; label: string; typed: readonly string[] }[],
  signal: AbortSignal,
): Promise<Value> {
  if (terminal.isTerminal) {
    const labels = options.map(({ label }, value) => ({ value, label }));
    const at = await ask(terminal, message, signal, (shown) => select({ ...shown, options: labels }));
    return (options[at] as (typeof options)[number]).value;
  }
  const keys = options.map(({ label, typed: [key] }) => `${key || 'Enter'} ${label}`).join(' · ');
  for (;;) {
    const line = (await readLine(terminal, dim(keys), signal)).trim().toLowerCase();
    const chosen = options.find(({ typed }) => typed.includes(line));
    if (chosen) return chosen.value;
    terminal.line(problemLine(`Write one of these: ${keys}`));
  }
}

/** Shows a prompt. Ctrl+C ends the command: while a prompt reads the keys, the terminal makes no signal of it. */
export async function ask<Value>(
  { input, output, status }: Terminal,
  message: string,
  signal: AbortSignal,
  show: (at: Shown) => Promise<Value | typeof CANCEL_SYMBOL>,
): Promise<Value> {
  signal.throwIfAborted();
  // Clack listens to its signal for longer than its prompt is open, and would draw it again.
  const open = new AbortController();
  const stop = () => open.abort();
  signal.addEventListener('abort', stop);
  status('');
  try {
    const at = { input, output, message, signal: open.signal, withGuide: false };
    const answer = await abortable(show(at), signal);
    if (!isCancel(answer)) return answer;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  process.kill(process.pid, 'SIGINT');
  return abortable(new Promise<never>(() => undefined), signal);
}

interface Shown extends CommonOptions {
  message: string;
}

type Filled = { kind: 'filled'; content: Record<string, unknown> } | { kind: 'decline' | 'cancel' };

/** Asks for each field. Several are reviewed before they are sent, and one is if `isReviewed`. */
export async function fillForm(
  terminal: Terminal,
  fields: readonly Field[],
  { signal, isReviewed = fields.length > 1 }: { signal: AbortSignal; isReviewed?: boolean },
): Promise<Filled> {
  const values = new Map<string, unknown>(Object.entries(defaultsOf([...fields])));
  for (;;) {
    for (const [index, field] of fields.entries()) {
      const place = fields.length > 1 ? dim(`${index + 1}/${fields.length} `) : '';
      const earlier = values.get(field.name);
      const value = terminal.isTerminal
        ? await promptFor(terminal, field, { place, earlier, signal })
        : await readField(terminal, field, { place, earlier, signal });
      const decision = [notNow, dismiss].find((one) => one === value);
      if (decision) return { kind: decision.value };
      values.set(field.name, value);
    }
    const send = { value: 'filled', label: 'Send', typed: ['', 'y', 'yes'] } as const;
    const change = { value: 'change', label: 'Change', typed: ['/back', 'change'] } as const;
    const next = isReviewed
      ? await choose(terminal, 'Send it?', [send, change, notNow, dismiss], signal)
      : 'filled';
    if (next === 'change') continue;
    if (next !== 'filled') return { kind: next };
    const content = [...values].filter(([, value]) => value !== undefined);
    return { kind: 'filled', content: Object.fromEntries(content) };
  }
}

interface At {
  place: string;
  /** The default, or what was given before. */
  earlier: unknown;
  signal: AbortSignal;
}

/** Undefined: left out. */
async function promptFor(terminal: Terminal, field: Field, { place, earlier, signal }: At): Promise<unknown> {
  const notes = notesOf(field, undefined, words).map((note) => note.text);
  const help = oneLine([...notes, ...(field.isRequired ? [] : [words.optional])].join(' · '));
  const message = `${place}${bold(oneLine(field.title))} ${dim(help)}`.trimEnd();
  switch (field.kind) {
    case 'text':
    case 'number': {
      const validate = (line = '') => problemWith(field, valueOf(field, line), words) ?? undefined;
      const initialValue =
        typeof earlier === 'number' ? String(earlier) : typeof earlier === 'string' ? earlier : '';
      const typed = await ask(terminal, message, signal, (shown) =>
        isSecretName(field.name)
          ? password({ ...shown, validate })
          : text({ ...shown, initialValue, validate }),
      );
      return valueOf(field, typed);
    }
    case 'boolean':
    case 'choice': {
      const values: unknown[] =
        field.kind === 'boolean' ? [true, false] : field.choices.map((one) => one.value);
      const labels =
        field.kind === 'boolean' ? ['Yes', 'No'] : field.choices.map(({ title }) => oneLine(title));
      const options = [...labels, ...(field.isRequired ? [] : [words.leftOpen])].map((label, value) => ({
        value,
        label,
      }));
      const initialValue =
        earlier === undefined && !field.isRequired ? values.length : values.indexOf(earlier);
      return values[
        await ask(terminal, message, signal, (shown) => select({ ...shown, options, initialValue }))
      ];
    }
    case 'choices': {
      const options = field.choices.map(({ title }, value) => ({ value, label: oneLine(title) }));
      const chosen = Array.isArray(earlier) ? (earlier as unknown[]) : [];
      const initialValues = options.flatMap(({ value }) =>
        chosen.includes(field.choices[value]?.value) ? [value] : [],
      );
      for (;;) {
        const marked = await ask(terminal, message, signal, (shown) =>
          multiselect({ ...shown, options, initialValues, required: false }),
        );
        const values = marked.map((index) => field.choices[index]?.value);
        const value = values.length === 0 && !field.isRequired ? undefined : values;
        const problem = problemWith(field, value, words);
        if (problem === null) return value;
        terminal.line(problemLine(problem));
      }
    }
    default:
      return field satisfies never;
  }
}

/** From a pipe. An empty line is the default, and `-` leaves an optional field out. */
async function readField(terminal: Terminal, field: Field, { place, earlier, signal }: At): Promise<unknown> {
  const choices = 'choices' in field ? field.choices : [];
  for (const [index, { title }] of choices.entries())
    terminal.line(`    ${String(index + 1).padStart(2)}  ${oneLine(title)}`);
  for (;;) {
    const line = (await readLine(terminal, `${place}${oneLine(field.title)}`, signal)).trim();
    for (const decision of [notNow, dismiss])
      if (line.startsWith('/') && (decision.typed as readonly string[]).includes(line.toLowerCase()))
        return decision;
    const value =
      line === '' ? earlier : line === '-' && !field.isRequired ? undefined : valueOf(field, line);
    const problem = problemWith(field, value, words);
    if (problem === null) return value;
    terminal.line(problemLine(problem));
  }
}

/** Undefined for an empty line. */
function valueOf(field: Field, line: string): unknown {
  return line.trim() === '' ? undefined : typedValue(field, line);
}

async function readLine(terminal: Terminal, prompt: string, signal: AbortSignal): Promise<string> {
  const line = await terminal.ask(`  ${prompt} ${dim('›')} `, signal);
  if (line === null) throw new SourceError('The input ended before the question was answered.');
  return line;
}

function problemLine(why: string): string {
  return `    ${styleText('red', '✗')} ${oneLine(why)}`;
}
