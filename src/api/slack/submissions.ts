/**
 * A window that a person sends: its answer is checked and recorded as theirs. Problems are shown below their fields; if the
 * question was settled meanwhile, the window says so.
 */
import type { ModalView } from '@slack/types';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import { problemOfRefused } from '@interlude-ai/core/elicitation/form/shown-field.ts';
import {
  askedInSlack,
  noticeModal,
  onwardModal,
  approvalBlocks,
  decisions,
  fieldBlock,
} from './blocks/modals.ts';
import type { AskedInSlack } from './blocks/modals.ts';
import { enteredText, typedIn } from './blocks/fields.ts';
import type { ViewValues } from './blocks/fields.ts';
import { troubleOf } from '../../remote/slack.ts';
import { fitContent } from '../../service/answer-content.ts';
import type { Asking, OwnQuestion } from '../../service/slack/questions.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import type { SlackWords } from './vocabulary/words.ts';
import { modalPartsOf, settledSince, wordsFor } from './context.ts';
import type { InteractionParts } from './clicks.ts';
import { refusalOf } from './refusals.ts';
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
  const words = await wordsFor(workspace, submission.slackUser);
  const read = await readAnswer(words, parts, workspace, submission);
  if ('window' in read) return read.window;
  const taken = take(words, parts, workspace, submission, read);
  const inTime = taken.then((answer) => ({ answer }));
  const first = await withTimeout(inTime, answerWithinMs, null, { ref: false });
  if (first) return first.answer;
  later(showLater(words, workspace, submission, taken));
  return showNotice(words, words.answerOnItsWay);
}

/** Updates the window. If it was closed, the person sees the outcome in the thread. */
async function showLater(
  words: SlackWords,
  { client }: SlackWorkspace,
  { viewId }: SlackSubmission,
  taken: Promise<WindowAnswer | undefined>,
): Promise<void> {
  const show = (view: ModalView) => client.views.update({ view_id: viewId, view });
  try {
    const answer = await taken;
    await show(answer?.response_action === 'update' ? answer.view : noticeModal(words, words.answerArrived));
  } catch (error) {
    if (troubleOf(error).kind === 'refused') return;
    await show(noticeModal(words, words.answerUncertain));
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
  words: SlackWords,
  parts: InteractionParts,
  workspace: SlackWorkspace,
  submission: SlackSubmission,
): Promise<ReadAnswer | { window: WindowAnswer }> {
  const found = await parts.slack.questions.find(workspace, submission);
  if (found.kind !== 'own') return { window: showNotice(words, words.notShown[found.kind]) };
  const asked = askedInSlack(modalPartsOf(words, parts, found).question);
  const response = responseOf(asked, submission.values);
  if (response === null) return { window: undecided(words, asked) };
  try {
    fitContent(found.question.request, response);
  } catch (error) {
    return { window: misfits(words, asked, response, refusalOf(error, words)) };
  }
  return { found, asked, response };
}

async function take(
  words: SlackWords,
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
      ? { response_action: 'update', view: onwardModal(words, asked) }
      : undefined;
  } catch (error) {
    const { kind, words: why } = refusalOf(error, words);
    if (kind === 'away') throw error;
    const now = kind === 'settled' ? await parts.service.askedQuestion(principal, question.id) : null;
    const isSettled = now?.kind === 'own' && now.question.status !== 'pending';
    return showNotice(words, isSettled ? await settledSince(words, parts.slack, now.question) : why);
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

function undecided(words: SlackWords, { kind }: AskedInSlack): WindowAnswer {
  if (kind === 'approval') return errors({ [approvalBlocks.decision]: words.chooseOne });
  return showNotice(words, words.answeredOnItsPage);
}

/** A problem that is not about one field is shown below the first. */
function misfits(
  words: SlackWords,
  asked: AskedInSlack,
  { content = {} }: ElicitationResponse,
  { words: why, issues }: Refusal,
): WindowAnswer {
  const fields = asked.kind === 'form' ? asked.fields : [];
  const refused = new Set(issues.map(({ path }) => path.at(-1)));
  const said = fields.flatMap((field, index) => {
    if (!refused.has(field.name)) return [];
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    return [[fieldBlock(index), problemOfRefused(field, value, words.shared)] as const];
  });
  if (said.length > 0) return errors(Object.fromEntries(said));
  return fields.length > 0 ? errors({ [fieldBlock(0)]: why }) : showNotice(words, why);
}

function errors(given: Record<string, string>): WindowAnswer {
  return { response_action: 'errors', errors: given };
}

function showNotice(words: SlackWords, text: string): WindowAnswer {
  return { response_action: 'update', view: noticeModal(words, text) };
}
