/**
 * A window that a person sends: its answer is checked and recorded as theirs. Problems are shown below their fields; if the
 * question was settled meanwhile, the window says so.
 */
import type { ModalView } from '@slack/types';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import {
  askedInSlack,
  noticeModal,
  onwardModal,
  approvalBlocks,
  decisions,
  fieldBlock,
} from './vocabulary/blocks/modals.ts';
import type { AskedInSlack } from './vocabulary/blocks/modals.ts';
import { enteredText, typedIn } from './vocabulary/blocks/fields.ts';
import type { ViewValues } from './vocabulary/blocks/fields.ts';
import { troubleOf } from './vocabulary/client.ts';
import { fitContent } from '../../service/answer-content.ts';
import type { Asking, OwnQuestion } from '../../service/slack/questions.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { modalPartsOf, settledSince } from './context.ts';
import type { InteractionParts } from './clicks.ts';
import { notShownWords, refusalOf } from './refusals.ts';
import type { Refusal } from './refusals.ts';

export interface SlackSubmission extends Asking {
  viewId: string;
  values: ViewValues;
}

/** What Slack should do with the window; undefined closes it. */
export type WindowAnswer =
  | { response_action: 'errors'; errors: Record<string, string> }
  | { response_action: 'update'; view: ModalView };

/** Slack waits three seconds. */
const answerWithinMs = 2_000;

/** `later` gets the work that is not finished when Slack has to be answered. */
export async function handleSubmission(
  parts: InteractionParts,
  workspace: SlackWorkspace,
  submission: SlackSubmission,
  later: (work: Promise<unknown>) => void,
): Promise<WindowAnswer | undefined> {
  const read = await readAnswer(parts, workspace, submission);
  if ('window' in read) return read.window;
  const taken = take(parts, workspace, submission, read);
  const inTime = taken.then((answer) => ({ answer }));
  const first = await withTimeout(inTime, answerWithinMs, null, { ref: false });
  if (first) return first.answer;
  later(showLater(workspace, submission, taken));
  return showNotice('Your answer is on its way. You can close this window.');
}

/** Updates the window. If it was closed, the person sees the outcome in the thread. */
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

/** Checks the content, too, so that problems are shown at once even if recording takes long. */
async function readAnswer(
  parts: InteractionParts,
  workspace: SlackWorkspace,
  submission: SlackSubmission,
): Promise<ReadAnswer | { window: WindowAnswer }> {
  const found = await parts.slack.questions.find(workspace, submission);
  if (found.kind !== 'own') return { window: showNotice(notShownWords[found.kind]) };
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
  parts: InteractionParts,
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
    return showNotice(isSettled ? await settledSince(parts.slack, now.question) : words);
  } finally {
    parts.onAnswered(workspace, slackUser);
  }
}

/** Null: nothing was decided. */
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
  return showNotice('This question is answered on its page.');
}

/** A problem that is not about one field is shown below the first. */
function misfits(asked: AskedInSlack, { words, issues }: Refusal): WindowAnswer {
  const fields = asked.kind === 'form' ? asked.fields : [];
  const said = issues.flatMap(({ path, detail }) => {
    const index = fields.findIndex(({ name }) => name === path.at(-1));
    return index === -1 ? [] : [[fieldBlock(index), `It ${detail}.`] as const];
  });
  if (said.length > 0) return errors(Object.fromEntries(said));
  return fields.length > 0 ? errors({ [fieldBlock(0)]: words }) : showNotice(words);
}

function errors(given: Record<string, string>): WindowAnswer {
  return { response_action: 'errors', errors: given };
}

function showNotice(words: string): WindowAnswer {
  return { response_action: 'update', view: noticeModal(words) };
}
