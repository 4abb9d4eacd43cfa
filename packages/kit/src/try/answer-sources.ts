/** The sources of answers that the command line names, in its order. */
import { styleText } from 'node:util';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { isSecretName } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { inspectUrl, warningText } from '@interlude-ai/core/elicitation/url-safety.ts';
import { fixtureFile } from '../answers/fixture.ts';
import { responder } from '../answers/responder.ts';
import { declineAll, SourceError } from '../answers/source.ts';
import type { Answer, AnswerSource, Question } from '../answers/source.ts';
import { beginForm, enterLine } from '../terminal/form-entry.ts';
import { problemLine, stepLines, stepPrompt, takenLine } from '../terminal/form-wording.ts';
import { bold, dim, promptLabel } from '../terminal/wording.ts';
import { GivenFileError, UsageError } from '../terminal/command.ts';
import { readDurationOption } from '../terminal/option-values.ts';
import { readHeaders } from './read-connection.ts';
import type { Terminal } from './terminal.ts';

interface SourcesGiven {
  answers: string[];
  responder: string[];
  'responder-header': string[];
  'responder-timeout': string;
  order: readonly string[];
}

/** Throws `UsageError` for unusable files and addresses, before anything is sent. */
export async function readSources(
  { order, ...given }: SourcesGiven,
  { terminal, canPrompt }: { terminal: Terminal; canPrompt: boolean },
): Promise<AnswerSource[]> {
  const [files, addresses] = [[...given.answers], [...given.responder]];
  const headers = Object.fromEntries(readHeaders(given['responder-header'], '--responder-header'));
  const timeoutMs = readDurationOption('--responder-timeout', given['responder-timeout']);
  const sources: AnswerSource[] = [];
  // Without a terminal, the prompt leaves its questions to the other sources.
  const isPrompted =
    terminal.isTyped || !order.some((name) => ['answers', 'responder', 'decline'].includes(name));
  for (const name of order) {
    if (name === 'answers') sources.push(await readAnswers(files.shift() ?? ''));
    if (name === 'responder') sources.push(responderAt(addresses.shift() ?? '', { headers, timeoutMs }));
    if (name === 'prompt' && isPrompted) sources.push(promptSource(terminal));
    if (name === 'decline') sources.push(declineAll);
  }
  const isComplete = order.includes('prompt') || order.includes('decline');
  return isComplete || !canPrompt ? sources : [...sources, promptSource(terminal)];
}

/** Throws `GivenFileError` for unusable files. */
export async function readFiles(files: readonly string[]): Promise<AnswerSource[]> {
  return Promise.all(files.map(readAnswers));
}

async function readAnswers(file: string): Promise<AnswerSource> {
  try {
    return await fixtureFile(file);
  } catch (cause) {
    throw new GivenFileError(wordsOf(cause), { cause });
  }
}

function responderAt(...given: Parameters<typeof responder>): AnswerSource {
  try {
    return responder(...given);
  } catch (cause) {
    throw new UsageError(wordsOf(cause), { cause });
  }
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

// Questions that a person answers in the terminal.

function promptSource(terminal: Terminal): AnswerSource {
  // One after the other, even if they come at once.
  let last: Promise<unknown> = Promise.resolve();
  return {
    name: 'you',
    async answer({ questions }, { signal }) {
      const answers = new Map<string, Answer>();
      const mine = last.then(async () => {
        for (const question of questions) answers.set(question.key, await ask(terminal, question, signal));
      });
      last = mine.catch(() => undefined);
      await mine;
      return answers;
    },
  };
}

async function ask(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Answer> {
  const { request, fields } = question;
  if (request.mode === 'url') return askForPage(terminal, request.url, signal);
  if (fields.some(({ name }) => isSecretName(name)))
    terminal.line(styleText('red', '    It asks for a secret, which a form must not do.'));
  if (fields.length === 0) return askForConsent(terminal, signal);
  terminal.line(formKeys(fields));
  const filled = await fillForm(terminal, fields, signal);
  switch (filled.kind) {
    case 'filled':
      return { action: 'accept', content: filled.content };
    case 'decline':
    case 'cancel':
      return { action: filled.kind };
    case 'no-input':
      throw nobodyThere();
    default:
      return filled satisfies never;
  }
}

async function askForConsent(terminal: Terminal, signal: AbortSignal): Promise<Answer> {
  return choose(terminal, 'Enter yes · n Not now · c Dismiss', signal);
}

async function askForPage(terminal: Terminal, url: string, signal: AbortSignal): Promise<Answer> {
  const inspected = inspectUrl(url);
  // Terminals turn printed addresses into links.
  if (inspected.kind === 'refused')
    terminal.line(styleText('red', `    The link is not shown. ${inspected.reason}`));
  else {
    terminal.line('    Open this link in your browser:');
    terminal.line();
    terminal.line(`    ${styleText('cyan', url)}`);
    for (const warning of inspected.warnings) terminal.line(styleText('red', `    ${warningText(warning)}`));
  }
  terminal.line();
  return choose(terminal, 'Enter when you are done · n Not now · c Dismiss', signal);
}

async function choose(terminal: Terminal, keys: string, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    const typed = await terminal.ask(`  ${dim(keys)} ${promptLabel('')}`, signal);
    if (typed === null) throw nobodyThere();
    const word = typed.trim().toLowerCase();
    if (['', 'y', 'yes'].includes(word)) return { action: 'accept' };
    if (['n', '/n', 'no'].includes(word)) return { action: 'decline' };
    if (['c', '/c'].includes(word)) return { action: 'cancel' };
    terminal.line(`  ${bold('n')}, ${bold('c')} or Enter.`);
  }
}

function nobodyThere(): SourceError {
  return new SourceError('The input ended before the question was answered.');
}

type Filled =
  | { kind: 'filled'; content: Record<string, unknown> }
  | { kind: 'decline' | 'cancel' | 'no-input' };

/** A form of one field is sent with its line; longer ones have a review. */
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

function formKeys(fields: readonly Field[]): string {
  const key = (name: string, meaning: string) => `${bold(name)} ${dim(meaning)}`;
  const all = [key('/n', 'Not now'), key('/c', 'Dismiss')];
  return `  ${[...(fields.length > 1 ? [key('/back', 'the field before')] : []), ...all].join('    ')}`;
}
