/**
 * The window in which whoever was asked answers: a form, an approval, consent to a link, or the way to our page. Nobody
 * else sees it. All that is needed to decide is in it, or else it only leads to the page. Pure.
 */
import type { KnownBlock, ModalView } from '@slack/types';
import { plainMessage } from '../../elicitation/plain-text.ts';
import { warningText } from '../../elicitation/url-safety.ts';
import { askedInSlack } from '../asked.ts';
import type { AskedInSlack, SlackQuestion } from '../asked.ts';
import { escapeText, fenced } from '../text/mrkdwn.ts';
import { fieldInput } from './field-input.ts';
import { askerOf, asks } from './question-message.ts';
import { inline, literal, longestSection, marked, note, pieces, quoted, sections } from './texts.ts';

export interface ModalParts {
  question: SlackQuestion;
  /** The agent, then those it delegated to, as people know them. */
  askedBy: string[];
  /** The whole address of the question's page. */
  page: string;
}

/** What has a window of its own. */
type AskedHere = Exclude<AskedInSlack, { kind: 'page' }>;

export const questionCallback = 'question';
export const fieldBlock = (index: number) => `field-${index}`;
export const approvalBlocks = { decision: 'decision', reason: 'reason' } as const;
/** What can be decided of an approval; the first three are a yes. */
export const decisions = ['once', 'conversation', 'always', 'refuse'] as const;

/** The model reads no more of it. */
const longestReason = 1_000;

export function questionModal(parts: ModalParts): ModalView {
  const asked = askedInSlack(parts.question);
  if (asked.kind === 'page') return pageModal(parts);
  const { message, context } = parts.question.request;
  const blocks: KnownBlock[] = [
    marked(headOf(parts)),
    ...sections(plainMessage(message)),
    ...(context.warnings ?? []).map((warning) => marked(escapeText(warningText(warning)))),
    ...inputsOf(asked),
    note(
      `${until(parts.question)} Nothing is decided by closing this window. <${parts.page}|Answer on a page instead>`,
    ),
  ];
  return {
    type: 'modal',
    callback_id: questionCallback,
    private_metadata: parts.question.id,
    title: literal(titles[asked.kind]),
    submit: literal(submitWords(asked)),
    close: literal('Close'),
    blocks,
  };
}

export const titles = {
  form: 'A question for you',
  approval: 'Your approval',
  link: 'Open a page',
} satisfies Record<AskedHere['kind'], string>;

function submitWords(asked: AskedHere): string {
  switch (asked.kind) {
    case 'form':
      return asked.fields.length === 0 ? 'Yes' : 'Send';
    case 'approval':
      return 'Decide';
    case 'link':
      return 'Agree';
    default:
      return asked satisfies never;
  }
}

function inputsOf(asked: AskedHere): KnownBlock[] {
  switch (asked.kind) {
    case 'form':
      return asked.fields.flatMap((field, index) => fieldInput(field, fieldBlock(index)) ?? []);
    case 'approval':
      return approvalInputs(asked);
    case 'link':
      return [
        marked(`It is on *${inline(asked.host)}*, and you open it in the next step:`),
        ...code(asked.url),
      ];
    default:
      return asked satisfies never;
  }
}

function approvalInputs({ arguments: shown, toolName }: AskedHere & { kind: 'approval' }): KnownBlock[] {
  const to = toolName === undefined ? '' : ` to \`${inline(toolName).replaceAll('`', 'ˋ')}\``;
  const choices = decisions.map((value) => ({ value, text: literal(decisionWords[value]) }));
  return [
    ...(shown === '' ? [] : [marked(`This will be sent${to}:`), ...code(shown)]),
    {
      type: 'input',
      block_id: approvalBlocks.decision,
      label: literal('Your decision'),
      // Nothing is chosen: no yes comes about by pressing a button alone.
      element: { type: 'radio_buttons', action_id: 'value', options: choices },
    },
    {
      type: 'input',
      block_id: approvalBlocks.reason,
      optional: true,
      label: literal('If you refuse, why?'),
      hint: literal('The agent reads it.'),
      element: { type: 'plain_text_input', action_id: 'value', multiline: true, max_length: longestReason },
    },
  ];
}

const decisionWords = {
  once: 'Allow once',
  conversation: 'Allow in this conversation',
  always: 'Always allow',
  refuse: 'Refuse',
} satisfies Record<(typeof decisions)[number], string>;

/** Its fences. */
const most = longestSection - fenced('').length;
/** Between three backticks stand two more characters. */
const costOfCode = (text: string) => escapeText(text).length + text.split('`').length - 1;

/** To the letter, in as many sections as it needs. */
function code(text: string): KnownBlock[] {
  return pieces(text, most, costOfCode).map((piece) =>
    marked(fenced(piece.replace(/\n$/, '')), { expand: true }),
  );
}

function headOf({ question, askedBy }: ModalParts): string {
  const asker = `*${inline(askerOf(question.request))}*${asks(question.request)}`;
  const by = inline(askedBy.join(' → '));
  return by === '' ? `${asker}:` : `${asker}, for ${by}:`;
}

/** In the reader's own time. */
export function until({ deadline }: Pick<SlackQuestion, 'deadline'>): string {
  const seconds = Math.floor(deadline / 1000);
  const clock = new Date(deadline).toISOString().slice(11, 16);
  return `Open until <!date^${seconds}^{time}|${clock} UTC>.`;
}

function pageModal(parts: ModalParts): ModalView {
  const { question, page } = parts;
  const isAccount = question.request.context.trigger === 'credential_required';
  return {
    type: 'modal',
    title: literal(isAccount ? 'Connect an account' : titles.form),
    close: literal('Close'),
    blocks: [
      marked(`${headOf(parts)} ${quoted(question.request.message, 1_500)}`),
      ...addressBlocks(
        `You ${isAccount ? 'connect' : 'answer'} it on this page, signed in as yourself:`,
        page,
        'Open the page',
      ),
      note(`${until(question)} Nothing is decided by closing this window.`),
    ],
  };
}

/** The whole address is shown, and opened by a button. */
export function addressBlocks(words: string, url: string, button: string): KnownBlock[] {
  return [
    marked(words),
    ...code(url),
    {
      type: 'actions',
      elements: [
        { type: 'button', action_id: 'question_page', style: 'primary', url, text: literal(button) },
      ],
    },
  ];
}
