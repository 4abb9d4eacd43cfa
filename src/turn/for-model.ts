/**
 * The sentences in which a model reads why a call has no result. They say whether the tool ran and whether the user was asked, so
 * that the model does not invent either. Decline, cancel and expiry stay three different things. Pure.
 */
import { approvalLimit } from '@interlude-ai/core/elicitation/approval.ts';
import { sharedAccountRemedy, sharedAccountTrouble } from '@interlude-ai/core/elicitation/wording.ts';
import type { CallFailure, CallRemark } from './call-failure.ts';
import { callSentences, sayCallFailure } from './sentences.ts';
import type { ServerTrouble } from './server-trouble.ts';
import { handedOnTooOften } from './turn.ts';
import { accountTrouble, turnFailure, whatHappened } from './words/en.ts';

const notRun = 'The tool did not run.';
const stopped = 'The call was stopped; what it had done before stays done.';
const toConnect = 'The user was asked to connect their {server} account';
const later = '[ The user can connect it at any time at {address}.]';
const toApprove = 'The user was asked to approve this call of {tool}';
const toOpen = 'The user was asked to open a page of {server} that this tool needs first';
const timedOut = 'Tell the user that it timed out and that they can ask again.';
const answerFirst = 'Ask the user to answer those first.';
const tryLater = 'Tell the user that it may be tried again later.';
const callAgain = 'Once those are answered, it can be called again.';
const tooManyRounds =
  'so the call was stopped. What it had done before stays done. Tell the user, and do not repeat the call by yourself.';
const notFinished = '{agent} did not finish the task.';
const checkTask = 'Whatever it had done before stays done: check before the task is handed over again.';

const sentences = callSentences({
  'account.decline': `${toConnect} and chose not to. ${notRun} Respect that: go on without it, and do not ask again unless the user brings it up.${later}`,
  'account.cancel': `${toConnect} and dismissed the question without deciding. ${notRun} Offer to try again later.${later}`,
  'account.expired': `${toConnect}, but nobody answered before the question expired. ${notRun} ${timedOut}${later}`,
  'account.unsupported': ({ address }) =>
    `This needs the user's {server} account, and the client they use cannot show the request to connect it, so nobody was asked. ${notRun} Tell the user to connect {server} ${address === undefined ? 'from a client that can' : 'at {address}'}, then to try again.`,
  'account.no-user': `This needs a person's {server} account, but the caller is a service and has none. ${notRun} It works when called on behalf of a signed-in user.`,
  'account.too-many-open': `The user already has too many open questions, so nobody was asked to connect {server}. ${notRun} ${answerFirst}`,
  'account.too-many-in-turn': `As many questions are open in this turn as may be, so nobody was asked to connect {server}. ${notRun} ${callAgain}`,
  'account.too-many-in-tenant': `As many questions are open in the user's organisation as may be, so nobody was asked to connect {server}. ${notRun} ${tryLater}`,
  'account.still-refused': `The user connected their {server} account, but {server} still refuses it. ${notRun} Tell the user to check that the account may do this, instead of asking again.`,
  shared_account: (failure) =>
    `${sharedAccountTrouble(failure)} Only an operator can connect it, not the user. ${notRun} Tell the user: ${sharedAccountRemedy(failure)}`,
  'approval.decline': `${toApprove} and refused.[ Their reason: {reason}] {untouched} Respect that: do not make the same call again unless the user asks for it.`,
  'approval.cancel': `${toApprove} and dismissed the question without deciding. {untouched} Offer to try again later.`,
  'approval.expired': `${toApprove}, but nobody answered before the question expired. {untouched} ${timedOut}`,
  'approval.unsupported':
    "This needs the user's approval, and the client they use cannot show the request, so nobody was asked. {untouched} Tell the user what you wanted to do, and to ask again from a client that can show questions.",
  'approval.no-user':
    "This needs a person's approval, but the caller is a service. {untouched} It works when called on behalf of a signed-in user.",
  'approval.too-many-open': `The user already has too many open questions, so nobody was asked to approve this call of {tool}. {untouched} ${answerFirst}`,
  'approval.too-many-in-turn': `As many questions are open in this turn as may be, so nobody was asked to approve this call of {tool}. {untouched} ${callAgain}`,
  'approval.too-many-in-tenant': `As many questions are open in the user's organisation as may be, so nobody was asked to approve this call of {tool}. {untouched} ${tryLater}`,
  approval_too_long: `This call of {tool} needs the user's approval, and its arguments are too long to be shown to them (more than ${approvalLimit} characters), so nobody was asked. {untouched} Make the call with less, or in parts.`,
  not_as_approved: ({ server }) =>
    `The user approved this call, but what was about to ${server === null ? 'run' : 'be sent'} is not what they approved, so it was stopped. {untouched} Tell the user, and do not repeat the call by yourself.`,
  'form.decline':
    'The user was shown the form and chose not to answer. Respect that: go on without it, and do not ask the same again.',
  'form.cancel': 'The user closed the form without answering. Offer to ask again later, or go on without it.',
  'form.expired': `The user was shown the form, but nobody answered before the time was up. ${timedOut}`,
  'form.unsupported':
    'The client the user has cannot show a form, so nobody was asked. Put the question to the user in your answer, in words, and let them reply in their next message:\n{question}',
  'form.too-many-open': `The user already has too many open questions, so nobody was asked. ${answerFirst}`,
  'form.too-many-in-turn':
    'As many questions are open in this turn as may be, so nobody was asked. Once those are answered, you can ask again.',
  'form.too-many-in-tenant': `As many questions are open in the user's organisation as may be, so nobody was asked. ${tryLater}`,
  'form.no-user':
    'The caller is a service, and no person is there to be asked. Go on without it, or say in your answer what you would have to know:\n{question}',
  'form.limit-reached':
    'You have asked the user as many forms as are allowed in one turn, so nobody was asked. Go on with what you know, or ask in your answer, in words:\n{question}',
  'frontend_tool.decline':
    'The user declined this call of {tool}, so it has no result. Respect that: go on without it.',
  'frontend_tool.cancel':
    'This call of {tool} was closed without a result. It is unknown whether the page ran it. Go on without it, or offer to try again.',
  'frontend_tool.expired': `The page sent no result of {tool} before the time was up. It is unknown whether the page ran it. ${timedOut}`,
  'frontend_tool.unsupported': 'The client the user has runs no tools of a page, so {tool} did not run.',
  'frontend_tool.no-user': 'The caller is a service, which has no page, so {tool} did not run.',
  'frontend_tool.too-many-open': `The user already has too many open questions, so {tool} was not called. ${answerFirst}`,
  'frontend_tool.too-many-in-turn': `As many calls and questions are open in this turn as may be, so {tool} was not called. ${callAgain}`,
  'frontend_tool.too-many-in-tenant': `As many questions are open in the user's organisation as may be, so {tool} was not called. ${tryLater}`,
  'too_many_questions.user': `{server} had a question in the middle of the call, but the user already has too many open ones, so nobody was asked. ${stopped} ${answerFirst}`,
  'too_many_questions.turn': `{server} had a question in the middle of the call, but as many are open in this turn as may be, so nobody was asked. ${stopped} ${callAgain}`,
  'too_many_questions.tenant': `{server} had a question in the middle of the call, but as many are open in the user's organisation as may be, so nobody was asked. ${stopped} ${tryLater}`,
  too_many_held: `{server} had a question in the middle of the call, but as many users as can be waited for are being waited for already, so nobody was asked. ${stopped} ${tryLater}`,
  'too_many_rounds.rounds': `{server} kept asking: it was given {limit} rounds of answers and still wanted more, ${tooManyRounds}`,
  'too_many_rounds.same-page': `{server} sent the user to the same page {limit} times and still wants it opened, ${tooManyRounds}`,
  'page_not_opened.decline': `${toOpen} and chose not to. ${notRun} Respect that, and do not ask again unless the user brings it up.`,
  'page_not_opened.cancel': `${toOpen} and dismissed the question without deciding. ${notRun} Offer to try again later.`,
  'page_not_opened.expired': `${toOpen}, but nobody answered in time. ${notRun} ${timedOut}`,
  unaskable({ isTask }) {
    const asked =
      '{server} asked for something that could not be put to the user: {why}. Nobody was asked, and';
    const tell =
      'Tell the user what {server} wants to know or open, as far as you know it: what they answer can go into';
    return isTask
      ? `${asked} the task was cancelled. ${tell} the words of another task.`
      : `${asked} the call did not complete. ${tell} the arguments of another call, if the tool takes it; otherwise they have to do this at {server} themselves.`;
  },
  nobody_to_ask: 'Nobody can be asked in the middle of this call.',
  ended_while_asking: '{server} ended while the user was asked. The call did not complete.',
  call_ended: 'The call has ended.',
  not_allowed: 'This agent may not use {tool}, so it did not run. Go on without it.',
  no_server: `There is no server "{server}" any more. ${notRun}`,
  not_called: `{server} could not be called because of a problem on our side. ${notRun} Tell the user to try again in a moment.`,
  account_unusable: ({ isOperators }) =>
    isOperators
      ? `{trouble} ${notRun} Tell the user that the operator of this service has to correct this. Connecting again does not help.`
      : `{trouble} ${notRun} Tell the user to try again later.`,
  server_trouble({ note }) {
    if (note === undefined) return '{trouble}';
    return `{trouble} ${note === 'tried_before' ? 'It was tried a moment ago, and not again. ' : ''}${notRun}`;
  },
  interrupted:
    '{trouble} It was in the middle of the call, which did not complete; what it had done before stays done. Nothing was sent twice. Tell the user that they can try again later.',
  // It must not be repeated blindly.
  unknown_outcome: ({ trouble }) =>
    `{server} was called, ${trouble ? 'and then: {trouble} So' : 'but its answer never arrived, so'} it is unknown whether the action took place. It was not repeated. Check the state in {server} before trying again, and tell the user.`,
  tool_lost:
    '{tool} was stopped in the middle by somebody who looks after this service. It did not complete; whatever it had done before stays done. Check before it is called again, and tell the user.',
  tool_stuck:
    '{tool} was ended, because it did not come to an end: a mistake in the tool. Whatever it had done before stays done. Do not call it again with the same arguments, and tell the user.',
  tool_not_run: `{tool} could not be run because of a problem on our side: no worker has its code. ${notRun} Tell the user to try again in a moment.`,
  no_answer: `${notFinished} {failure} ${checkTask}`,
  empty_answer: `${notFinished} It ended without a word. ${checkTask}`,
  no_tool: ({ tools }) =>
    `There is no tool "{tool}". ${tools.length === 0 ? 'There are no tools here.' : 'The tools are: {tools}.'}`,
  bad_arguments:
    'The arguments for {tool} were not a JSON object, so it did not run. Call it again with valid arguments.',
  tool_gone: 'There is no tool {tool} any more.',
  form_refused: 'Nobody was asked. {why}',
  no_task: '{tool} needs a "task" in words, so nobody was asked. Call it again with one.',
  'not_handed_on.too-often': ({ limit }) => `{agent} was not asked: ${handedOnTooOften(limit)}`,
  'not_handed_on.too-many': ({ limit }) =>
    `{agent} was not asked: an agent may hand out ${limit === 1 ? 'one task' : '{limit} tasks'} at a time, and you have handed out as many in this step. When their answers are there, hand out what is left.`,
  // Read in the next turn.
  'unfinished.delegated':
    'The turn ended while another agent was at work on this task. What it had done until then stays done.',
  'unfinished.delegated_replaced':
    'The agent with this task was waiting for the user, who sent a new message instead of answering. What it had done before stays done. Answer the new message.',
  'unfinished.waiting':
    'The turn ended while this tool was waiting for the user. It did not complete; what it had done before stays done.',
  'unfinished.waiting_replaced':
    'The tool was waiting for the user, who sent a new message instead of answering. It did not complete; what it had done before stays done. Answer the new message.',
  'unfinished.started':
    'The turn ended while this tool was running, so it is unknown whether the action took place. Check before trying again.',
  'unfinished.not_run': 'The turn ended before this tool could run.',
  'unfinished.not_run_replaced': `The user was asked for something this tool needs and sent a new message instead of answering. ${notRun} Answer the new message.`,
});

const parts = {
  sentences,
  untouched: 'Nothing was sent to {server}.',
  notRun,
  stopped: 'It was stopped.',
  trouble: troubleInWords,
  accountTrouble,
  turnFailure,
};

export function failureForModel(failure: CallFailure): string {
  return sayCallFailure(parts, failure);
}

const checkCommand = 'The operator should check its command in the agents file.';
const checkUrl = 'The operator should check that it runs and that its url in the agents file is right.';
const checkCard = 'The operator should check that it runs and that its card in the agents file is right.';

/** What an operator can do about a trouble. */
const remedies: Partial<Record<ServerTrouble['code'], string>> = {
  not_mcp: checkUrl,
  no_endpoint: checkUrl,
  request_refused: checkUrl,
  not_mcp_process: checkCommand,
  command_not_executable: checkCommand,
  not_started: checkCommand,
  no_messages: checkCard,
  no_card: checkCard,
  no_card_content: checkCard,
  no_interface: checkCard,
  session_lost:
    'If this happens often, the operator should check that all processes of the server share their sessions.',
  unreadable_message: 'Its author should compare it with the specification of MCP.',
  redirected: 'The agents file should name the final url.',
  certificate: 'The operator should check it.',
  command_not_found: 'The operator should install it, or correct the command in the agents file.',
  no_folder: 'The operator should correct its cwd in the agents file.',
  user_not_permitted:
    'The operator should run the worker as root, or remove uid and gid from the agents file.',
  process_ended: "The operator can read what it had to say in the worker's log.",
  header_unsendable: 'The operator should check headers and headersEnv in the agents file.',
  other_era: 'The operator should correct or remove it.',
  other_host: 'The operator can allow it with endpoint in the agents file.',
};

/** For models and operators: what happened, and what an operator can do about it. */
export function troubleInWords(trouble: ServerTrouble): string {
  const checked = 'remedy' in trouble ? { url: checkUrl, card: checkCard }[trouble.remedy] : undefined;
  const remedy = checked ?? remedies[trouble.code];
  return remedy === undefined ? whatHappened(trouble) : `${whatHappened(trouble)} ${remedy}`;
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
      return `${what}, but ${which}. ${server} was told "cancel", having no word for that: the user did not dismiss anything. ${timedOut}`;
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
