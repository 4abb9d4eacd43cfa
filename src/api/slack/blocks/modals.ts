/**
 * The window in which the person answers a question: a form, an approval, or consent to a link. A question that Slack cannot
 * show completely gets a link to our page instead. Pure.
 */
import type { KnownBlock, ModalView } from '@slack/types';
import { plainMessage } from '@interlude-ai/core/elicitation/plain-text.ts';
import { inspectUrl, isSafeToOpen } from '@interlude-ai/core/elicitation/url-safety.ts';
import { isApproval, longestReason } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { wantsSecret } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { escapeText, fenced } from '../vocabulary/text/mrkdwn.ts';
import { en } from '../vocabulary/words/en.ts';
import type { SlackWords } from '../vocabulary/words/en.ts';
import { fieldInput } from './fields.ts';
import { askerOf, asking } from '../vocabulary/blocks/question-message.ts';
import {
  inline,
  literal,
  longestSection,
  marked,
  note,
  pieces,
  quoted,
  sections,
} from '../vocabulary/blocks/texts.ts';

export interface ModalParts {
  words: SlackWords;
  question: SlackQuestion;
  /** Titles of the agent and those it delegated to. */
  askedBy: string[];
  /** URL of the question's page. */
  page: string;
}

type AskedHere = Exclude<AskedInSlack, { kind: 'page' }>;

export const questionCallback = 'question';
export const fieldBlock = (index: number) => `field-${index}`;
export const approvalBlocks = { decision: 'decision', reason: 'reason' } as const;
/** The first three approve. */
export const decisions = ['once', 'conversation', 'always', 'refuse'] as const;

export function questionModal(parts: ModalParts): ModalView {
  const { words } = parts;
  const asked = askedInSlack(parts.question);
  if (asked.kind === 'page') return pageModal(parts);
  const { context } = parts.question.request;
  const blocks: KnownBlock[] = [
    marked(headOf(parts)),
    ...sections(plainMessage(words.ownQuestion(parts.question.request))),
    ...(context.warnings ?? []).map((warning) => marked(escapeText(words.warning(warning)))),
    ...inputsOf(words, asked),
    note(
      `${until(words, parts.question)} ${words.closingDecidesNothing} <${parts.page}|${words.onPageInstead}>`,
    ),
  ];
  return {
    type: 'modal',
    callback_id: questionCallback,
    private_metadata: parts.question.id,
    title: literal(words.windows[asked.kind]),
    submit: literal(submitWords(words, asked)),
    close: literal(words.close),
    blocks,
  };
}

function submitWords(words: SlackWords, asked: AskedHere): string {
  switch (asked.kind) {
    case 'form':
      return asked.fields.length === 0 ? words.yes : words.send;
    case 'approval':
      return words.decide;
    case 'link':
      return words.agree;
    default:
      return asked satisfies never;
  }
}

function inputsOf(words: SlackWords, asked: AskedHere): KnownBlock[] {
  switch (asked.kind) {
    case 'form':
      return asked.fields.flatMap((field, index) => fieldInput(words, field, fieldBlock(index)) ?? []);
    case 'approval':
      return approvalInputs(words, asked);
    case 'link':
      return [marked(words.isOnHost(inline(asked.host))), ...code(asked.url)];
    default:
      return asked satisfies never;
  }
}

function approvalInputs(
  words: SlackWords,
  { arguments: shown, toolName }: AskedHere & { kind: 'approval' },
): KnownBlock[] {
  const willBeSent =
    toolName === undefined ? words.willBeSent : words.willBeSentTo(inline(toolName).replaceAll('`', 'ˋ'));
  const choices = decisions.map((value) => ({ value, text: literal(words.decisions[value]) }));
  return [
    ...(shown === '' ? [] : [marked(willBeSent), ...code(shown)]),
    {
      type: 'input',
      block_id: approvalBlocks.decision,
      label: literal(words.yourDecision),
      // Nothing is preselected, so that pressing the button alone cannot approve.
      element: { type: 'radio_buttons', action_id: 'value', options: choices },
    },
    {
      type: 'input',
      block_id: approvalBlocks.reason,
      optional: true,
      label: literal(words.whyRefuse),
      hint: literal(words.agentReadsIt),
      element: { type: 'plain_text_input', action_id: 'value', multiline: true, max_length: longestReason },
    },
  ];
}

/** What fits into a section beside the fences. */
const most = longestSection - fenced('').length;
/** `fenced` may separate backticks, which adds characters. */
const costOfCode = (text: string) => escapeText(text).length + text.split('`').length - 1;

/** The complete text, in as many sections as needed. */
function code(text: string): KnownBlock[] {
  return pieces(text, most, costOfCode).map((piece) =>
    marked(fenced(piece.replace(/\n$/, '')), { expand: true }),
  );
}

function headOf({ words, question, askedBy }: ModalParts): string {
  const asker = asking(words, question.request, `*${inline(askerOf(words, question.request))}*`);
  const by = inline(askedBy.join(' → '));
  return by === '' ? `${asker}:` : words.headFor(asker, by);
}

/** Slack shows it in the reader's time zone. */
export function until(words: SlackWords, { deadline }: Pick<SlackQuestion, 'deadline'>): string {
  const seconds = Math.floor(deadline / 1000);
  const clock = new Date(deadline).toISOString().slice(11, 16);
  return words.openUntil(`<!date^${seconds}^{time}|${clock} UTC>`);
}

function pageModal(parts: ModalParts): ModalView {
  const { words, question, page } = parts;
  const isAccount = question.request.context.trigger === 'credential_required';
  return {
    type: 'modal',
    title: literal(isAccount ? words.connectAccount : words.windows.form),
    close: literal(words.close),
    blocks: [
      marked(`${headOf(parts)} ${quoted(words.ownQuestion(question.request), 1_500)}`),
      ...addressBlocks(isAccount ? words.connectOnPage : words.answerOnPage, page, words.openPage),
      note(`${until(words, question)} ${words.closingDecidesNothing}`),
    ],
  };
}

/** Shows the complete address, with a button that opens it. */
function addressBlocks(text: string, url: string, button: string): KnownBlock[] {
  return [
    marked(text),
    ...code(url),
    {
      type: 'actions',
      elements: [
        { type: 'button', action_id: 'question_page', style: 'primary', url, text: literal(button) },
      ],
    },
  ];
}

/** How a question is answered from within Slack. */
export type AskedInSlack =
  /** On our page only: an account, a secret, or something that Slack cannot show. */
  | { kind: 'page' }
  | { kind: 'form'; fields: Field[] }
  | { kind: 'approval'; arguments: string; toolName: string | undefined }
  | { kind: 'link'; url: string; host: string };

export interface SlackQuestion {
  id: string;
  request: ElicitationRequest;
  /** In epoch milliseconds. */
  deadline: number;
  isAboutAccount: boolean;
}

/** Twenty sections. A window has room for a third more beside the largest form. */
const longestMessage = 20 * 3_000;
/** Slack's limit for the URL of a button, with some room. */
const longestUrl = 2_900;

export function askedInSlack({ request, isAboutAccount }: SlackQuestion): AskedInSlack {
  if (isAboutAccount || request.message.length > longestMessage) return { kind: 'page' };
  if (request.mode === 'url') {
    const { url } = request;
    const inspected = inspectUrl(url);
    const isShowable = inspected.kind === 'ok' && isSafeToOpen(url) && escapeText(url).length <= longestUrl;
    return isShowable ? { kind: 'link', url, host: inspected.host } : { kind: 'page' };
  }
  const { context, requestedSchema } = request;
  if (isApproval(context))
    return { kind: 'approval', arguments: context.arguments ?? '', toolName: context.toolName };
  const form = readRequestedSchema(requestedSchema);
  // Slack can read everything typed into it.
  if (form.kind === 'unsupported' || wantsSecret(request)) return { kind: 'page' };
  const isCarried = form.fields.every((field) => fieldInput(en, field, '') !== null);
  return isCarried ? { kind: 'form', fields: form.fields } : { kind: 'page' };
}

/** A window without inputs. */
export function noticeModal(
  words: SlackWords,
  text: string,
  more: KnownBlock[] = [],
  title: string = words.windows.form,
): ModalView {
  return {
    type: 'modal',
    title: literal(title),
    close: literal(words.close),
    blocks: [marked(escapeText(text)), ...more],
  };
}

/** After the person agreed to open a link. */
export function onwardModal(words: SlackWords, { url, host }: { url: string; host: string }): ModalView {
  const blocks = addressBlocks(words.thisIsThePage, url, words.continue);
  return noticeModal(words, words.agreedToOpen(host), blocks, words.windows.link);
}
