/** A question on the screen: who asks and why, how to answer, and its outcome. */
import { styleText } from 'node:util';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import { warningText } from '@interlude-ai/core/elicitation/url-safety.ts';
import { inWords } from '@interlude-ai/core/elicitation/wording.ts';
import { bold, dim, oneLine, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { shortTime } from './wording.ts';

/**
 * The kind of answer. `connection`: the service notices by itself when the account is connected; `page`: only the
 * person knows when it is done. An unreadable question can still be declined.
 */
export type Asking =
  | { kind: 'connection' | 'page' }
  | { kind: 'form'; fieldCount: string }
  /** A tool call that waits for approval. */
  | { kind: 'approval' }
  | { kind: 'unreadable'; reason: string };

interface Given {
  asking: Asking;
  isInteractive: boolean;
  /** How to fill in forms was explained before. */
  knowsForms: boolean;
}

export function questionCard(question: ElicitationRequest, given: Given): string[] {
  const { context } = question;
  const { asking } = given;
  return [
    `  ${styleText('yellow', '●')} ${bold(message(question))}`,
    dim(`    ${whoAsks(question)}`),
    ...(context.scopes?.length ? [dim(`    permissions: ${plain(context.scopes.join(', '))}`)] : []),
    ...(context.warnings ?? []).map((warning) => `    ${styleText('red', plain(warningText(warning)))}`),
    ...(asking.kind === 'form' ? [] : ['']),
    ...way(question, asking),
    keys(question, asking),
    ...otherwise(given).map((line) => dim(`  ${line}`)),
  ];
}

/** A server's line breaks stay within the card. */
function message(question: ElicitationRequest): string {
  return plain(question.message).trim().replaceAll('\n', '\n    ');
}

function whoAsks({ context }: ElicitationRequest): string {
  const { trigger, serverTitle, server = serverTitle, host, toolName } = context;
  const agent = oneLine(context.agent ?? unnamed);
  const tool = toolName === undefined ? '' : ` · ${oneLine(inWords(toolName))}`;
  // A question of the agent, or of a tool in TypeScript.
  if (server === undefined) return `asked by ${agent}${tool}`;
  const place = `${oneLine(serverTitle ?? server)}${host === undefined ? '' : ` at ${oneLine(host)}`}`;
  if (trigger === 'credential_required') return `${agent} asks, for ${place}`;
  return `asked by ${place}${tool} · for ${agent}`;
}

/** If the service does not say who asks. */
const unnamed = 'The agent';

/** A short name for the prompt and the outcome. */
export function askedBy({ context }: ElicitationRequest): string {
  return oneLine(askerTitle(context) ?? unnamed);
}

function way(question: ElicitationRequest, asking: Asking): string[] {
  switch (asking.kind) {
    case 'connection':
    case 'page':
      return question.mode === 'url'
        ? ['  Open this link in your browser:', '', `  ${link(plain(question.url))}`, '']
        : [];
    case 'form':
      return [dim(`    a form with ${asking.fieldCount}`), ''];
    case 'approval':
      return [
        dim(`    what will be sent to ${oneLine(question.context.toolName ?? 'the tool')}:`),
        ...plain(question.context.arguments ?? '{}')
          .split('\n')
          .map((line) => `    ${line}`),
        '',
      ];
    case 'unreadable':
      return [
        `  This terminal cannot show the ${question.mode === 'url' ? 'link' : 'form'}: ${oneLine(asking.reason)}`,
        '',
      ];
    default:
      return asking satisfies never;
  }
}

/** Complete and alone on its line, to be copied or clicked, with its host highlighted. */
function link(url: string): string {
  const [, before = '', host = '', after = url] =
    /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(url) ?? [];
  const cyan = (text: string) => styleText('cyan', text);
  return `${cyan(before)}${styleText(['bold', 'cyan'], host)}${cyan(after)}`;
}

function keys({ expiresAt }: ElicitationRequest, { kind }: Asking): string {
  const until = shortTime(expiresAt);
  const key = (name: string, meaning: string) => `${bold(name)} ${dim(meaning)}`;
  if (kind === 'form') {
    const all = [key('/back', 'the field before'), key('/n', 'Not now'), key('/c', 'Dismiss')];
    return `  ${all.join('    ')}    ${dim(`open until ${until}`)}`;
  }
  if (kind === 'approval') {
    const yes = [key('y', 'Approve'), key('yc', '… in this conversation'), key('ya', '… always')];
    const no = [key('n', 'Decline'), key('n and some words', '… and say why'), key('c', 'Dismiss')];
    return `  ${yes.join('    ')}\n  ${no.join('    ')}    ${dim(`then Enter; open until ${until}`)}`;
  }
  const done = kind === 'page' ? [key('Enter', 'when you are done')] : [];
  const all = [...done, key('n', 'Not now'), key('c', 'Dismiss')];
  return `  ${all.join('    ')}    ${dim(`${kind === 'page' ? '' : 'then Enter; '}open until ${until}`)}`;
}

function otherwise({ asking, isInteractive, knowsForms }: Given): string[] {
  if (asking.kind !== 'form')
    return isInteractive ? ['Anything else you type is a new message; this question is then dropped.'] : [];
  if (knowsForms) return [];
  const message = '/new and some words sends a new message and drops the form';
  return [
    'Enter takes the value in [brackets]; - leaves out an optional field.',
    ...(isInteractive ? [`What you type is an answer; ${message}.`] : []),
  ];
}

/** `isOurs`: it was answered here. */
export function settledLine(question: ElicitationRequest, isOurs: boolean): string {
  const title = askedBy(question);
  const isConnection = question.context.trigger === 'credential_required';
  // A tool in TypeScript sends nothing.
  const notRun = question.context.server === undefined ? 'it did not run' : 'nothing was sent';
  switch (question.status) {
    case 'accept': {
      if (isApproval(question.context))
        return `  ${styleText('green', '✓')} ${isOurs ? 'Approved.' : 'Approved elsewhere.'}`;
      const isPage = question.mode === 'url' && question.context.trigger === 'tool_elicitation';
      if (isPage) return `  ${styleText('green', '✓')} ${title}: the page is done.`;
      const words = isConnection ? `${title} is connected.` : isOurs ? 'Answered.' : 'Answered elsewhere.';
      return `  ${styleText('green', '✓')} ${words}`;
    }
    case 'decline':
      if (isApproval(question.context))
        return dim(`  – ${isOurs ? 'Declined' : 'Declined elsewhere'}: ${notRun}.`);
      if (isConnection) return dim(`  – Not now: ${title} is left out.`);
      return dim(isOurs ? '  – Not now.' : '  – Not now, was the answer elsewhere.');
    case 'cancel':
      if (isConnection) return dim(`  – Dismissed: ${title} was not decided on.`);
      return dim(`  – ${withdrawn(question) ?? (isOurs ? 'Dismissed.' : 'Closed: nothing was decided.')}`);
    case 'expired':
      return `  ${styleText('yellow', '–')} ${dim(withdrawn(question) ?? 'Nobody answered in time. Ask again when you are ready.')}`;
    case 'pending':
      return dim(`  – ${title} is still asking.`);
    default:
      return question.status satisfies never;
  }
}

/** The server did not wait for the answer. */
function withdrawn(question: ElicitationRequest): string | undefined {
  const title = askedBy(question);
  switch (question['because']) {
    case 'server_gave_up':
      return `${title} did not wait any longer. Ask again when you are ready.`;
    case 'server_gone':
      return `${title} is gone, and its question with it.`;
    default:
      return undefined;
  }
}

/** For a question that was open when a new message was sent. */
export function supersededLine(question: ElicitationRequest): string {
  return dim(`  – Left undecided: ${askedBy(question)}. Your new message counts.`);
}
