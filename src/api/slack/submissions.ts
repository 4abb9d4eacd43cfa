/**
 * What somebody sends from a window: checked and answered like everywhere, as that person. What does not fit is said
 * below its field, and what was settled meanwhile is said instead of the window's contents.
 */
import type { ModalView } from '@slack/types';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { ElicitationResponse } from '../../elicitation/elicitation.ts';
import { coerceContent } from '../../elicitation/form/coerce-content.ts';
import { askedInSlack } from '../../slack/asked.ts';
import type { AskedInSlack } from '../../slack/asked.ts';
import { enteredText, typedIn } from '../../slack/blocks/field-values.ts';
import type { ViewValues } from '../../slack/blocks/field-values.ts';
import { noticeModal, onwardModal } from '../../slack/blocks/notice-modal.ts';
import { approvalBlocks, decisions, fieldBlock } from '../../slack/blocks/question-modal.ts';
import { troubleOf } from '../../slack/client.ts';
import { fitContent } from '../../service/answer-content.ts';
import type { Asking, OwnQuestion } from '../../service/slack/questions.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import type { SlackContext } from './context.ts';
import { modalPartsOf } from './modal-parts.ts';
import { notShownWords, refusalOf } from './refusals.ts';
import type { Refusal } from './refusals.ts';
import { settledSince } from './settled-since.ts';

export interface SlackSubmission extends Asking {
  viewId: string;
  values: ViewValues;
}

/** What becomes of the window; nothing: it closes. */
export type WindowAnswer =
  | { response_action: 'errors'; errors: Record<string, string> }
  | { response_action: 'update'; view: ModalView };

interface Parts extends SlackContext {
  /** Something of theirs was settled. */
  onAnswered(workspace: SlackWorkspace, slackUser: string): void;
}

export type HandleSubmission = (
  workspace: SlackWorkspace,
  submission: SlackSubmission,
) => Promise<WindowAnswer | undefined>;

/** Slack waits for three seconds. */
const answerWithinMs = 2_000;

/** `later` is given what is still under way when Slack has to be answered. */
export function createSubmissions(parts: Parts, later: (work: Promise<unknown>) => void): HandleSubmission {
  return async (workspace, submission) => {
    const read = await readAnswer(parts, workspace, submission);
    if ('window' in read) return read.window;
    const taken = take(parts, workspace, submission, read);
    const inTime = taken.then((answer) => ({ answer }));
    const first = await withTimeout(inTime, answerWithinMs, null, { ref: false });
    if (first) return first.answer;
    later(showLater(workspace, submission, taken));
    return says('Your answer is on its way. You can close this window.');
  };
}

/** Whoever has closed the window meanwhile sees it in the thread. */
async function showLater(
  { client }: SlackWorkspace,
  { viewId }: SlackSubmission,
  taken: Promise<WindowAnswer | undefined>,
): Promise<void> {
  const show = (view: ModalView) => client.views.update({ view_id: viewId, view });
  try {
    const answer = await taken;
    await show(answer?.response_action === 'update' ? answer.view : noticeModal('Your answer is there.'));
  } catch (error) {
    if (troubleOf(error).kind === 'refused') return;
    await show(noticeModal('Your answer may not have been taken. Open the question again.'));
    throw error;
  }
}

interface ReadAnswer {
  found: OwnQuestion;
  asked: AskedInSlack;
  response: ElicitationResponse;
}

/** Checked here as well: what does not fit is said at once, however long an answer takes. */
async function readAnswer(
  parts: Parts,
  workspace: SlackWorkspace,
  submission: SlackSubmission,
): Promise<ReadAnswer | { window: WindowAnswer }> {
  const found = await parts.slack.questions.find(workspace, submission);
  if (found.kind !== 'own') return { window: says(notShownWords[found.kind]) };
  const asked = askedInSlack(modalPartsOf(parts, found).question);
  const response = responseOf(asked, submission.values);
  if (response === null) return { window: undecided(asked) };
  try {
    fitContent(found.question.request, response);
  } catch (error) {
    return { window: misfits(asked, refusalOf(error)) };
  }
  return { found, asked, response };
}

async function take(
  parts: Parts,
  workspace: SlackWorkspace,
  { slackUser, address }: SlackSubmission,
  { found, asked, response }: ReadAnswer,
): Promise<WindowAnswer | undefined> {
  const { question, principal } = found;
  try {
    await parts.service.answerQuestion(principal, {
      elicitationId: question.id,
      response,
      address,
      surface: 'slack',
    });
    return asked.kind === 'link' && response.action === 'accept'
      ? { response_action: 'update', view: onwardModal(asked) }
      : undefined;
  } catch (error) {
    const { kind, words } = refusalOf(error);
    if (kind === 'away') throw error;
    const now = kind === 'settled' ? await parts.service.askedQuestion(principal, question.id) : null;
    const isSettled = now?.kind === 'own' && now.question.status !== 'pending';
    return says(isSettled ? await settledSince(parts.slack, now.question) : words);
  } finally {
    parts.onAnswered(workspace, slackUser);
  }
}

/** Null: there is nothing to decide with. */
function responseOf(asked: AskedInSlack, values: ViewValues): ElicitationResponse | null {
  switch (asked.kind) {
    case 'page':
      return null;
    case 'link':
      return { action: 'accept' };
    case 'form': {
      const typed = typedIn(asked.fields, values, fieldBlock);
      return { action: 'accept', content: coerceContent(asked.fields, typed) };
    }
    case 'approval':
      return decisionOf(values);
    default:
      return asked satisfies never;
  }
}

function decisionOf(values: ViewValues): ElicitationResponse | null {
  const given = enteredText(values, approvalBlocks.decision);
  const reason = enteredText(values, approvalBlocks.reason)?.trim() ?? '';
  const decision = decisions.find((one) => one === given);
  switch (decision) {
    case undefined:
      return null;
    case 'once':
      return { action: 'accept', content: {} };
    case 'conversation':
    case 'always':
      return { action: 'accept', content: {}, remember: decision };
    case 'refuse':
      return { action: 'decline', ...(reason !== '' && { reason }) };
    default:
      return decision satisfies never;
  }
}

function undecided({ kind }: AskedInSlack): WindowAnswer {
  if (kind === 'approval') return errors({ [approvalBlocks.decision]: 'Choose one of these.' });
  return says('This question is answered on its page.');
}

/** About no field in particular: below the first one. */
function misfits(asked: AskedInSlack, { words, issues }: Refusal): WindowAnswer {
  const fields = asked.kind === 'form' ? asked.fields : [];
  const said = issues.flatMap(({ path, detail }) => {
    const index = fields.findIndex(({ name }) => name === path.at(-1));
    return index === -1 ? [] : [[fieldBlock(index), `It ${detail}.`] as const];
  });
  if (said.length > 0) return errors(Object.fromEntries(said));
  return fields.length > 0 ? errors({ [fieldBlock(0)]: words }) : says(words);
}

function errors(given: Record<string, string>): WindowAnswer {
  return { response_action: 'errors', errors: given };
}

function says(words: string): WindowAnswer {
  return { response_action: 'update', view: noticeModal(words) };
}
