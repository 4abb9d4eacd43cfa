/** What a person reads, in English. Each language is one file. Pure. */
import { approvalLimit } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import {
  connectionMessage,
  elsewhere,
  sharedAccountMessage,
} from '@interlude-ai/core/elicitation/wording.ts';
import { isWaiting } from '../call-failure.ts';
import type { CallFailure, MissingAccount } from '../call-failure.ts';
import { whatHappened } from '@interlude-ai/core/mcp/trouble.ts';
import type { CodedFailure, TurnFailure } from '../turn-failure.ts';

/** An account that is missing, for a person whose client cannot show the question. */
export interface Notice {
  serverTitle: string;
  account: MissingAccount;
  /** Where they can connect it. */
  url: string | undefined;
}

export interface Words {
  /** A question of our own in the person's language, or the words in which others ask. */
  question: (event: ElicitationEvent) => string;
  missingAccount: (notice: Notice) => string;
  /** For a person whose client cannot show the question. `address`: of the page with their connections. */
  elsewhere: (question: string, isAsked: boolean, address: string | undefined) => string;
  callFailure: (failure: CallFailure) => string;
  turnFailure: (failure: CodedFailure) => string;
}

type Of<Code extends CallFailure['code']> = Extract<CallFailure, { code: Code }>;

const notRun = 'The tool did not run.';
const doneBefore = 'What it had done before stays done.';
const answerFirst = 'Answer your open questions first.';
const service = 'It works for a signed-in user, not for a service.';

export const en: Words = {
  callFailure,
  turnFailure,
  question: ({ message }) => message,
  missingAccount,
  elsewhere,
};

function missingAccount({ serverTitle, account, url }: Notice): string {
  if (account.code === 'shared_account') return sharedAccountMessage({ ...account, server: serverTitle });
  return elsewhere(connectionMessage(serverTitle, 'missing', account.tool, account.by), false, url);
}

function callFailure(failure: CallFailure): string {
  switch (failure.code) {
    case 'account':
      return account(failure);
    case 'shared_account':
      return `${sharedAccountMessage(failure)} ${notRun}`;
    case 'approval':
      return approval(failure);
    case 'approval_too_long':
      return `This call needs your approval, and its arguments are too long to be shown (more than ${approvalLimit} characters). ${untouched(failure)}`;
    case 'not_as_approved':
      return `The call was not the one that you approved, so it was stopped. ${untouched(failure)}`;
    case 'form':
      return form(failure);
    case 'too_many_questions':
      return failure.limitOf === 'user'
        ? `${failure.server} had a question, but you have too many open ones, so the call was stopped. ${doneBefore} ${answerFirst}`
        : `${failure.server} had a question, but too many are open in this turn, so the call was stopped. ${doneBefore}`;
    case 'too_many_held':
      return `${failure.server} had a question, but too many people are being asked at the moment, so the call was stopped. ${doneBefore} Try again later.`;
    case 'too_many_rounds':
      return failure.what === 'rounds'
        ? `${failure.server} kept asking: it got ${failure.limit} rounds of answers and wanted more, so the call was stopped. ${doneBefore}`
        : `${failure.server} sent you to the same page ${failure.limit} times, so the call was stopped. ${doneBefore}`;
    case 'page_not_opened':
      return pageNotOpened(failure);
    case 'unaskable':
      return failure.isTask
        ? `${failure.server} asked for something that you cannot be asked: ${failure.why}. The task was cancelled.`
        : `${failure.server} asked for something that you cannot be asked: ${failure.why}. The call did not complete.`;
    case 'nobody_to_ask':
      return 'The tool had a question that could not be asked in this call.';
    case 'ended_while_asking':
      return `${failure.server} ended while you were asked. The call did not complete.`;
    case 'call_ended':
      return 'The call has ended.';
    case 'not_allowed':
      return `This agent may not use ${failure.tool}, so it did not run.`;
    case 'no_server':
      return `There is no server “${failure.server}” any more. ${notRun}`;
    case 'not_called':
      return `${failure.server} could not be called because of a problem on our side. ${notRun} Try again in a moment.`;
    case 'account_unusable':
      return failure.isOperators
        ? `${failure.trouble} ${notRun} The operator of this service has to correct this. Connecting again does not help.`
        : `${failure.trouble} ${notRun} Try again later.`;
    case 'server_trouble':
      return failure.note === undefined
        ? whatHappened(failure.trouble)
        : `${whatHappened(failure.trouble)} ${notRun}`;
    case 'interrupted':
      return `${whatHappened(failure.trouble)} The call did not complete. ${doneBefore} Nothing was sent twice. You can try again later.`;
    case 'unknown_outcome': {
      const { server, trouble } = failure;
      const what =
        trouble === undefined
          ? `${server} was called, but its answer never arrived.`
          : `${server} was called, and then: ${whatHappened(trouble)}`;
      return `${what} It is unknown whether the action took place. It was not repeated. Check the state in ${server} before trying again.`;
    }
    case 'tool_lost':
      return `${failure.tool} was stopped by an operator of this service and did not complete. ${doneBefore} Check before trying again.`;
    case 'tool_stuck':
      return `${failure.tool} did not come to an end and was stopped: a mistake in the tool. ${doneBefore}`;
    case 'tool_not_run':
      return `${failure.tool} could not be run because of a problem on our side. ${notRun} Try again in a moment.`;
    case 'no_answer':
      return `${failure.agent} did not finish the task. ${whyOf(failure.failure)} ${doneBefore}`;
    case 'empty_answer':
      return `${failure.agent} ended the task without an answer. ${doneBefore}`;
    case 'no_tool':
    case 'tool_gone':
      return `There is no tool “${failure.tool}”.`;
    case 'bad_arguments':
      return `${failure.tool} was called with arguments that cannot be read, so it did not run.`;
    case 'form_refused':
      return `You were not asked, because the form of the agent cannot be shown: ${failure.why}`;
    case 'no_task':
      return `${failure.tool} was called without a task, so it did not run.`;
    case 'not_handed_on':
      return failure.why === 'too-often'
        ? `${failure.agent} was not asked: the task had been handed on as often as allowed (${failure.limit}).`
        : `${failure.agent} was not asked: an agent may hand out ${failure.limit} tasks at a time.`;
    case 'unfinished':
      return unfinished(failure);
    default:
      return failure satisfies never;
  }
}

function account({ why, server, address }: Of<'account'>): string {
  const asked = `You were asked to connect your ${server} account`;
  const later = address === undefined ? '' : ` You can connect it at any time at ${address}.`;
  switch (why) {
    case 'decline':
      return `${asked} and chose not to. ${notRun}${later}`;
    case 'cancel':
      return `${asked} and dismissed the question without deciding. ${notRun} You can try again later.${later}`;
    case 'expired':
      return `${asked}, but the time was up before there was an answer. ${notRun} You can ask again.${later}`;
    case 'unsupported': {
      const place = address === undefined ? 'from a client that can' : `at ${address}`;
      return `This needs your ${server} account, and the client you use cannot show the request to connect it. ${notRun} Connect ${server} ${place}, then try again.`;
    }
    case 'no-user':
      return `This needs a person's ${server} account. ${notRun} ${service}`;
    case 'too-many-open':
      return `This needs your ${server} account, but you have too many open questions. ${notRun} ${answerFirst}`;
    case 'too-many-in-turn':
      return `This needs your ${server} account, but too many questions are open in this turn. ${notRun}`;
    case 'still-refused':
      return `You connected your ${server} account, but ${server} still refuses it. ${notRun} Check that the account may do this.`;
    default:
      return why satisfies never;
  }
}

function approval({ why, server, reason }: Of<'approval'>): string {
  const asked = 'You were asked to approve this call';
  const nothing = untouched({ server });
  switch (why) {
    case 'decline':
      return reason === undefined
        ? `${asked} and refused. ${nothing}`
        : `${asked} and refused. Your reason: ${JSON.stringify(reason)} ${nothing}`;
    case 'cancel':
      return `${asked} and dismissed the question without deciding. ${nothing} You can try again later.`;
    case 'expired':
      return `${asked}, but the time was up before there was an answer. ${nothing} You can ask again.`;
    case 'unsupported':
      return `This needs your approval, and the client you use cannot show the request. ${nothing} Ask again from a client that can show questions.`;
    case 'no-user':
      return `This needs a person's approval. ${nothing} ${service}`;
    case 'too-many-open':
      return `This needs your approval, but you have too many open questions. ${nothing} ${answerFirst}`;
    case 'too-many-in-turn':
      return `This needs your approval, but too many questions are open in this turn. ${nothing}`;
    default:
      return why satisfies never;
  }
}

function untouched({ server }: { server: string | null }): string {
  return server === null ? notRun : `Nothing was sent to ${server}.`;
}

function form({ why }: Of<'form'>): string {
  switch (why) {
    case 'decline':
      return 'You chose not to answer.';
    case 'cancel':
      return 'You closed the form without answering.';
    case 'expired':
      return 'The time was up before you answered. You can ask again.';
    case 'unsupported':
      return 'The client you use cannot show the form.';
    case 'too-many-open':
      return `You have too many open questions, so you were not asked. ${answerFirst}`;
    case 'too-many-in-turn':
      return 'Too many questions are open in this turn, so you were not asked.';
    case 'no-user':
      return 'The caller is a service, which cannot be asked.';
    case 'limit-reached':
      return 'The agent has asked as many forms as are allowed in one turn.';
    default:
      return why satisfies never;
  }
}

function pageNotOpened({ why, server }: Of<'page_not_opened'>): string {
  const asked = `You were asked to open a page of ${server} that this tool needs first`;
  switch (why) {
    case 'decline':
      return `${asked} and chose not to. ${notRun}`;
    case 'cancel':
      return `${asked} and dismissed the question without deciding. ${notRun} You can try again later.`;
    case 'expired':
      return `${asked}, but the time was up before you had. ${notRun} You can ask again.`;
    default:
      return why satisfies never;
  }
}

function unfinished({ end, state }: Of<'unfinished'>): string {
  const isReplaced = end === 'superseded';
  if (state === 'delegated')
    return isReplaced
      ? `The agent waited for you, and you sent a new message. ${doneBefore}`
      : `The turn ended while another agent was at work on this task. ${doneBefore}`;
  if (isWaiting({ end, state }))
    return isReplaced
      ? `The tool waited for you, and you sent a new message. It did not complete. ${doneBefore}`
      : `The turn ended while this tool waited for you. It did not complete. ${doneBefore}`;
  if (state === 'started')
    return 'The turn ended while this tool was running, so it is unknown whether the action took place. Check before trying again.';
  return isReplaced
    ? `You were asked for something that this tool needs, and sent a new message. ${notRun}`
    : 'The turn ended before this tool could run.';
}

function whyOf(failure: TurnFailure | undefined): string {
  if (!failure) return 'It was stopped.';
  return 'message' in failure ? failure.message : turnFailure(failure);
}

const notSetUp =
  'The assistant cannot answer because of a problem in its set-up. Tell whoever runs this service.';
const again = 'Ask again to go on.';

function turnFailure(failure: CodedFailure): string {
  switch (failure.code) {
    case 'MaxStepsReached': {
      const remedy = failure.isDelegated ? '' : ' Ask it to go on.';
      return `The agent stopped after ${failure.maxSteps} steps without finishing.${remedy}`;
    }
    case 'UnknownAgent':
      return `There is no agent "${failure.agent}" any more. Choose another one.`;
    case 'ModelRateLimited':
      return 'The assistant has too much to do right now. Try again in a moment.';
    case 'ModelUnavailable':
      return 'The assistant cannot be reached right now. Try again in a moment.';
    case 'ModelQuotaExhausted':
    case 'ModelUnauthorized':
    case 'ModelRefusedRequest':
    case 'ModelMisconfigured':
      return notSetUp;
    case 'ModelContextTooLong':
      return 'This conversation is too long for the assistant. Start a new one.';
    case 'ModelContentPolicy':
      return 'The assistant declined to answer because of its content policy. Rephrase the request.';
    case 'ModelEmptyAnswer':
      return failure.isOutOfRoom
        ? 'The assistant ran out of room before it said anything. Ask for something shorter.'
        : 'The assistant answered with nothing. Ask again, or in other words.';
    case 'TurnFailed':
      return 'Something went wrong on our side, and the answer could not be finished.';
    case 'TurnLost':
      return `The turn was lost before the answer was finished. ${again}`;
    case 'TurnTerminated':
      return `The turn was ended from outside before the answer was finished. ${again}`;
    case 'TurnTimedOut':
      return `The turn took longer than a turn may take, and was ended. ${again}`;
    default:
      return failure satisfies never;
  }
}
