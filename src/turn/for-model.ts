/**
 * The sentences in which a model reads why a call has no result. They say whether the tool ran and whether the user was asked, so
 * that the model does not invent either. Decline, cancel and expiry stay three different things. Pure.
 */
import { approvalLimit } from '@interlude-ai/core/elicitation/approval.ts';
import { sharedAccountRemedy, sharedAccountTrouble } from '@interlude-ai/core/elicitation/wording.ts';
import { isWaiting } from './call-failure.ts';
import type { CallFailure, CallRemark } from './call-failure.ts';
import { turnFailureInWords } from './for-person.ts';
import { troubleInWords } from '@interlude-ai/core/mcp/trouble.ts';
import { handedOnTooOften } from './turn.ts';

type Of<Code extends CallFailure['code']> = Extract<CallFailure, { code: Code }>;

const notRun = 'The tool did not run.';

export function failureForModel(failure: CallFailure): string {
  switch (failure.code) {
    case 'account':
      return account(failure);
    case 'shared_account':
      return `${sharedAccountTrouble(failure)} Only an operator can connect it, not the user. ${notRun} Tell the user: ${sharedAccountRemedy(failure)}`;
    case 'approval':
      return approval(failure);
    case 'approval_too_long':
      return `This call of ${failure.tool} needs the user's approval, and its arguments are too long to be shown to them (more than ${approvalLimit} characters), so nobody was asked. ${untouched(failure)} Make the call with less, or in parts.`;
    case 'not_as_approved': {
      const was = failure.server === null ? 'run' : 'be sent';
      return `The user approved this call, but what was about to ${was} is not what they approved, so it was stopped. ${untouched(failure)} Tell the user, and do not repeat the call by yourself.`;
    }
    case 'form':
      return form(failure);
    case 'too_many_questions':
      return failure.limitOf === 'user'
        ? `${failure.server} had a question in the middle of the call, but the user already has too many open ones, so nobody was asked. The call was stopped; what it had done before stays done. Ask the user to answer those first.`
        : `${failure.server} had a question in the middle of the call, but as many are open in this turn as may be, so nobody was asked. The call was stopped; what it had done before stays done. Once those are answered, it can be called again.`;
    case 'too_many_held':
      return `${failure.server} had a question in the middle of the call, but as many users as can be waited for are being waited for already, so nobody was asked. The call was stopped; what it had done before stays done. Tell the user that it may be tried again later.`;
    case 'too_many_rounds': {
      const { server, limit } = failure;
      const why =
        failure.what === 'rounds'
          ? `${server} kept asking: it was given ${limit} rounds of answers and still wanted more`
          : `${server} sent the user to the same page ${limit} times and still wants it opened`;
      return `${why}, so the call was stopped. What it had done before stays done. Tell the user, and do not repeat the call by yourself.`;
    }
    case 'page_not_opened':
      return pageNotOpened(failure);
    case 'unaskable': {
      const { server, why, isTask } = failure;
      const asked = `${server} asked for something that could not be put to the user: ${why}. Nobody was asked, and`;
      const tell = `Tell the user what ${server} wants to know or open, as far as you know it: what they answer can go into`;
      return isTask
        ? `${asked} the task was cancelled. ${tell} the words of another task.`
        : `${asked} the call did not complete. ${tell} the arguments of another call, if the tool takes it; otherwise they have to do this at ${server} themselves.`;
    }
    case 'nobody_to_ask':
      return 'Nobody can be asked in the middle of this call.';
    case 'ended_while_asking':
      return `${failure.server} ended while the user was asked. The call did not complete.`;
    case 'call_ended':
      return 'The call has ended.';
    case 'not_allowed':
      return `This agent may not use ${failure.tool}, so it did not run. Go on without it.`;
    case 'no_server':
      return `There is no server "${failure.server}" any more. ${notRun}`;
    case 'not_called':
      return `${failure.server} could not be called because of a problem on our side. ${notRun} Tell the user to try again in a moment.`;
    case 'account_unusable':
      return failure.isOperators
        ? `${failure.trouble} ${notRun} Tell the user that the operator of this service has to correct this. Connecting again does not help.`
        : `${failure.trouble} ${notRun} Tell the user to try again later.`;
    case 'server_trouble':
      return serverTrouble(failure);
    case 'interrupted':
      return `${troubleInWords(failure.trouble)} It was in the middle of the call, which did not complete; what it had done before stays done. Nothing was sent twice. Tell the user that they can try again later.`;
    case 'unknown_outcome': {
      const { server, trouble } = failure;
      const what =
        trouble === undefined
          ? `${server} was called, but its answer never arrived, so`
          : `${server} was called, and then: ${troubleInWords(trouble)} So`;
      // It must not be repeated blindly.
      return `${what} it is unknown whether the action took place. It was not repeated. Check the state in ${server} before trying again, and tell the user.`;
    }
    case 'tool_lost':
      return `${failure.tool} was stopped in the middle by somebody who looks after this service. It did not complete; whatever it had done before stays done. Check before it is called again, and tell the user.`;
    case 'tool_stuck':
      return `${failure.tool} was ended, because it did not come to an end: a mistake in the tool. Whatever it had done before stays done. Do not call it again with the same arguments, and tell the user.`;
    case 'tool_not_run':
      return `${failure.tool} could not be run because of a problem on our side: no worker has its code. ${notRun} Tell the user to try again in a moment.`;
    case 'no_answer':
      return noAnswer(
        failure.agent,
        failure.failure ? turnFailureInWords(failure.failure) : 'It was stopped.',
      );
    case 'empty_answer':
      return noAnswer(failure.agent, 'It ended without a word.');
    case 'no_tool': {
      const names = failure.tools.join(', ');
      return `There is no tool "${failure.tool}". ${names === '' ? 'There are no tools here.' : `The tools are: ${names}.`}`;
    }
    case 'bad_arguments':
      return `The arguments for ${failure.tool} were not a JSON object, so it did not run. Call it again with valid arguments.`;
    case 'tool_gone':
      return `There is no tool ${failure.tool} any more.`;
    case 'form_refused':
      return `Nobody was asked. ${failure.why}`;
    case 'no_task':
      return `${failure.tool} needs a "task" in words, so nobody was asked. Call it again with one.`;
    case 'not_handed_on': {
      const { agent, limit, why } = failure;
      return `${agent} was not asked: ${why === 'too-often' ? handedOnTooOften(limit) : tooManyAtOnce(limit)}`;
    }
    case 'unfinished':
      return unfinished(failure);
    default:
      return failure satisfies never;
  }
}

export function remarkForModel(remark: CallRemark): string {
  switch (remark.code) {
    case 'questions_expired': {
      const { server, expired, asked } = remark;
      const what =
        asked === 1
          ? `${server} asked the user a question in the middle of this call`
          : `${server} asked the user ${asked} questions in the middle of this call`;
      const which =
        expired === asked
          ? `nobody answered before ${asked === 1 ? 'it' : 'they'} expired`
          : `nobody answered ${expired} of them before the time was up`;
      return `${what}, but ${which}. ${server} was told "cancel", having no word for that: the user did not dismiss anything. Tell the user that it timed out and that they can ask again.`;
    }
    case 'questions_not_asked': {
      const why = remark.hasUser
        ? 'The client the user has cannot show what the tool asks, so nobody was asked. Tell the user what it wanted to know, and that it can ask them from a client that shows questions:'
        : 'The caller is a service, and no person is there to be asked. Say in your answer what the tool wanted to know; it can ask when it is called on behalf of a signed-in user:';
      return [why, ...remark.questions].join('\n');
    }
    case 'no_user':
      return 'The caller is a service, and no person is there to be asked: it works when called on behalf of a signed-in user.';
    default:
      return remark satisfies never;
  }
}

function account({ why, server, address }: Of<'account'>): string {
  const later = address === undefined ? '' : ` The user can connect it at any time at ${address}.`;
  switch (why) {
    case 'decline':
      return `The user was asked to connect their ${server} account and chose not to. ${notRun} Respect that: go on without it, and do not ask again unless the user brings it up.${later}`;
    case 'cancel':
      return `The user was asked to connect their ${server} account and dismissed the question without deciding. ${notRun} Offer to try again later.${later}`;
    case 'expired':
      return `The user was asked to connect their ${server} account, but nobody answered before the question expired. ${notRun} Tell the user that it timed out and that they can ask again.${later}`;
    case 'unsupported': {
      const place = address === undefined ? 'from a client that can' : `at ${address}`;
      return `This needs the user's ${server} account, and the client they use cannot show the request to connect it, so nobody was asked. ${notRun} Tell the user to connect ${server} ${place}, then to try again.`;
    }
    case 'no-user':
      return `This needs a person's ${server} account, but the caller is a service and has none. ${notRun} It works when called on behalf of a signed-in user.`;
    case 'too-many-open':
      return `The user already has too many open questions, so nobody was asked to connect ${server}. ${notRun} Ask the user to answer those first.`;
    case 'too-many-in-turn':
      return `As many questions are open in this turn as may be, so nobody was asked to connect ${server}. ${notRun} Once those are answered, it can be called again.`;
    case 'still-refused':
      return `The user connected their ${server} account, but ${server} still refuses it. ${notRun} Tell the user to check that the account may do this, instead of asking again.`;
    default:
      return why satisfies never;
  }
}

function approval({ why, tool, server, reason }: Of<'approval'>): string {
  const call = `this call of ${tool}`;
  const untouchedServer = untouched({ server });
  switch (why) {
    case 'decline': {
      const words = reason === undefined ? '' : ` Their reason: ${JSON.stringify(reason)}`;
      return `The user was asked to approve ${call} and refused.${words} ${untouchedServer} Respect that: do not make the same call again unless the user asks for it.`;
    }
    case 'cancel':
      return `The user was asked to approve ${call} and dismissed the question without deciding. ${untouchedServer} Offer to try again later.`;
    case 'expired':
      return `The user was asked to approve ${call}, but nobody answered before the question expired. ${untouchedServer} Tell the user that it timed out and that they can ask again.`;
    case 'unsupported':
      return `This needs the user's approval, and the client they use cannot show the request, so nobody was asked. ${untouchedServer} Tell the user what you wanted to do, and to ask again from a client that can show questions.`;
    case 'no-user':
      return `This needs a person's approval, but the caller is a service. ${untouchedServer} It works when called on behalf of a signed-in user.`;
    case 'too-many-open':
      return `The user already has too many open questions, so nobody was asked to approve ${call}. ${untouchedServer} Ask the user to answer those first.`;
    case 'too-many-in-turn':
      return `As many questions are open in this turn as may be, so nobody was asked to approve ${call}. ${untouchedServer} Once those are answered, it can be called again.`;
    default:
      return why satisfies never;
  }
}

/** `server`: null for an agent's own tool. */
function untouched({ server }: { server: string | null }): string {
  return server === null ? notRun : `Nothing was sent to ${server}.`;
}

function form({ why, question }: Of<'form'>): string {
  switch (why) {
    case 'decline':
      return 'The user was shown the form and chose not to answer. Respect that: go on without it, and do not ask the same again.';
    case 'cancel':
      return 'The user closed the form without answering. Offer to ask again later, or go on without it.';
    case 'expired':
      return 'The user was shown the form, but nobody answered before the time was up. Tell the user that it timed out and that they can ask again.';
    case 'unsupported':
      return `The client the user has cannot show a form, so nobody was asked. Put the question to the user in your answer, in words, and let them reply in their next message:\n${question}`;
    case 'too-many-open':
      return 'The user already has too many open questions, so nobody was asked. Ask the user to answer those first.';
    case 'too-many-in-turn':
      return 'As many questions are open in this turn as may be, so nobody was asked. Once those are answered, you can ask again.';
    case 'no-user':
      return `The caller is a service, and no person is there to be asked. Go on without it, or say in your answer what you would have to know:\n${question}`;
    case 'limit-reached':
      return `You have asked the user as many forms as are allowed in one turn, so nobody was asked. Go on with what you know, or ask in your answer, in words:\n${question}`;
    default:
      return why satisfies never;
  }
}

function pageNotOpened({ why, server }: Of<'page_not_opened'>): string {
  const page = `open a page of ${server} that this tool needs first`;
  switch (why) {
    case 'decline':
      return `The user was asked to ${page} and chose not to. ${notRun} Respect that, and do not ask again unless the user brings it up.`;
    case 'cancel':
      return `The user was asked to ${page} and dismissed the question without deciding. ${notRun} Offer to try again later.`;
    case 'expired':
      return `The user was asked to ${page}, but nobody answered in time. ${notRun} Tell the user that it timed out and that they can ask again.`;
    default:
      return why satisfies never;
  }
}

function serverTrouble({ trouble, note }: Of<'server_trouble'>): string {
  const words = troubleInWords(trouble);
  switch (note) {
    case undefined:
      return words;
    case 'not_run':
      return `${words} ${notRun}`;
    case 'tried_before':
      return `${words} It was tried a moment ago, and not again. ${notRun}`;
    default:
      return note satisfies never;
  }
}

function noAnswer(agent: string, why: string): string {
  return `${agent} did not finish the task. ${why} Whatever it had done before stays done: check before the task is handed over again.`;
}

function tooManyAtOnce(limit: number): string {
  const first = limit === 1 ? 'one task' : `${limit} tasks`;
  return (
    `an agent may hand out ${first} at a time, and you have handed out as many in this step. ` +
    'When their answers are there, hand out what is left.'
  );
}

/** Read in the next turn. */
function unfinished({ end, state }: Of<'unfinished'>): string {
  if (state === 'delegated')
    return end === 'superseded'
      ? 'The agent with this task was waiting for the user, who sent a new message instead of answering. What it had done before stays done. Answer the new message.'
      : 'The turn ended while another agent was at work on this task. What it had done until then stays done.';
  if (isWaiting({ end, state }))
    return end === 'superseded'
      ? 'The tool was waiting for the user, who sent a new message instead of answering. It did not complete; what it had done before stays done. Answer the new message.'
      : 'The turn ended while this tool was waiting for the user. It did not complete; what it had done before stays done.';
  if (state === 'started')
    return 'The turn ended while this tool was running, so it is unknown whether the action took place. Check before trying again.';
  return end === 'superseded'
    ? 'The user was asked for something this tool needs and sent a new message instead of answering. The tool did not run. Answer the new message.'
    : 'The turn ended before this tool could run.';
}
