/** The sources of answers that the command line names, in its order. */
import { styleText } from 'node:util';
import { isSecretName } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { inspectUrl, warningText } from '@interlude-ai/core/elicitation/url-safety.ts';
import { fixtureFile } from '../answers/fixture.ts';
import { responder } from '../answers/responder.ts';
import { declineAll } from '../answers/source.ts';
import type { Answer, AnswerSource, Question } from '../answers/source.ts';
import { dim } from '../terminal/terminal-text.ts';
import { UsageError } from '../terminal/command.ts';
import { choose, dismiss, fillForm, notNow } from './prompts.ts';
import { readHeaders } from './read-connection.ts';
import type { Terminal } from './terminal.ts';
import type { GivenSource } from './try-options.ts';

export interface SourceValues {
  responderHeader?: string[] | undefined;
  responderTimeout: number;
}

/** Throws `UsageError` for unusable files and addresses, before anything is sent. */
export async function readSources(
  given: readonly GivenSource[],
  { responderHeader = [], responderTimeout }: SourceValues,
  { terminal, canPrompt }: { terminal: Terminal; canPrompt: boolean },
): Promise<AnswerSource[]> {
  const headers = Object.fromEntries(readHeaders(responderHeader, '--responder-header'));
  // Without a terminal, the prompt leaves its questions to the other sources.
  const isPrompted = terminal.isTyped || given.every(({ from }) => from === 'prompt');
  const sources: AnswerSource[] = [];
  for (const { from, value } of given) {
    if (from === 'answers') sources.push(await readAnswers(value));
    if (from === 'responder') sources.push(responderAt(value, { headers, timeoutMs: responderTimeout }));
    if (from === 'prompt' && isPrompted) sources.push(promptSource(terminal));
    if (from === 'decline') sources.push(declineAll);
  }
  const isComplete = given.some(({ from }) => from === 'prompt' || from === 'decline');
  return isComplete || !canPrompt ? sources : [...sources, promptSource(terminal)];
}

/** Throws `UsageError` for unusable files. */
export async function readFiles(files: readonly string[]): Promise<AnswerSource[]> {
  return Promise.all(files.map(readAnswers));
}

async function readAnswers(file: string): Promise<AnswerSource> {
  try {
    return await fixtureFile(file);
  } catch (cause) {
    throw new UsageError(wordsOf(cause), { cause });
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
  if (request.mode === 'url') {
    showPage(terminal, request.url);
    return decide(terminal, 'The page', 'I am done', signal);
  }
  if (fields.some(({ name }) => isSecretName(name)))
    terminal.line(styleText('red', '    It asks for a secret, which a form must not do.'));
  if (fields.length === 0) return decide(terminal, 'Your answer', 'Yes', signal);
  if (terminal.isTerminal) {
    const decision = await decide(terminal, 'Your answer', 'Fill in the form', signal);
    if (decision.action !== 'accept') return decision;
  } else terminal.line(dim('    /n Not now · /c Dismiss'));
  const filled = await fillForm(terminal, fields, { signal });
  return filled.kind === 'filled' ? { action: 'accept', content: filled.content } : { action: filled.kind };
}

async function decide(
  terminal: Terminal,
  message: string,
  label: string,
  signal: AbortSignal,
): Promise<Answer> {
  const accept = { value: 'accept', label, typed: ['', 'y', 'yes'] } as const;
  return { action: await choose(terminal, message, [accept, notNow, dismiss], signal) };
}

function showPage(terminal: Terminal, url: string): void {
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
}
