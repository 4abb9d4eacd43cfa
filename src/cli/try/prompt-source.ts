/** Asks whoever sits at the terminal. */
import { isSecretName } from '../../elicitation/form/secret-fields.ts';
import { inspectUrl, warningText } from '../../elicitation/url-safety.ts';
import { SourceError } from '../../testing/answers/source.ts';
import type { Answer, AnswerSource, Question } from '../../testing/answers/source.ts';
import { bold, dim, promptLabel } from '../chat/wording.ts';
import { fillForm, formKeys } from './fill-form.ts';
import type { Terminal } from './terminal.ts';
import { styleText } from 'node:util';

export function promptSource(terminal: Terminal): AnswerSource {
  // Questions that come side by side are put one after the other.
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
  // Terminals make links of what they show.
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
