/** What a person reads, in English. Each language is one file. Pure. */
import { approvalLimit } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { KeyProblem } from '@interlude-ai/core/elicitation/wording.ts';
import {
  connectionMessage,
  elsewhere,
  sharedAccountMessage,
} from '@interlude-ai/core/elicitation/wording.ts';
import type { AccountTrouble } from '../account-trouble.ts';
import type { CallFailure, MissingAccount } from '../call-failure.ts';
import {
  accountSentences,
  callSentences,
  sayAccountTrouble,
  sayCallFailure,
  sayTrouble,
  sayTurnFailure,
  troubleSentences,
  turnSentences,
} from '../sentences.ts';
import type { ServerTrouble } from '../server-trouble.ts';
import type { TurnFailure } from '../turn-failure.ts';

/** An account that is missing, for a person whose client cannot show the question. */
export interface Notice {
  serverTitle: string;
  account: MissingAccount;
  /** Where they can connect it. */
  url: string | undefined;
}

export interface Words {
  /** A question of our own in the person's language, or the words in which others ask. */
  question: (event: Pick<ElicitationEvent, 'message' | 'context'>) => string;
  keyProblem: (serverTitle: string, problem: KeyProblem) => string;
  missingAccount: (notice: Notice) => string;
  /** For a person whose client cannot show the question. `address`: of the page with their connections. */
  elsewhere: (question: string, isAsked: boolean, address: string | undefined) => string;
  callFailure: (failure: CallFailure) => string;
  accountTrouble: (trouble: AccountTrouble) => string;
  turnFailure: (failure: TurnFailure) => string;
}

const notRun = 'The tool did not run.';
const doneBefore = 'What it had done before stays done.';
const answerFirst = 'Answer your open questions first.';
const service = 'It works for a signed-in user, not for a service.';
const toConnect = 'You were asked to connect your {server} account';
const later = '[ You can connect it at any time at {address}.]';
const toApprove = 'You were asked to approve this call';
const toOpen = 'You were asked to open a page of {server} that this tool needs first';
const unaskable = '{server} asked for something that you cannot be asked: {why}.';

const calls = callSentences({
  'account.decline': `${toConnect} and chose not to. ${notRun}${later}`,
  'account.cancel': `${toConnect} and dismissed the question without deciding. ${notRun} You can try again later.${later}`,
  'account.expired': `${toConnect}, but the time was up before there was an answer. ${notRun} You can ask again.${later}`,
  'account.unsupported': ({ address }) =>
    `This needs your {server} account, and the client you use cannot show the request to connect it. ${notRun} Connect {server} ${address === undefined ? 'from a client that can' : 'at {address}'}, then try again.`,
  'account.no-user': `This needs a person's {server} account. ${notRun} ${service}`,
  'account.too-many-open': `This needs your {server} account, but you have too many open questions. ${notRun} ${answerFirst}`,
  'account.too-many-in-turn': `This needs your {server} account, but too many questions are open in this turn. ${notRun}`,
  'account.too-many-in-tenant': `This needs your {server} account, but too many questions are open in your organisation. ${notRun} You can try again later.`,
  'account.still-refused': `You connected your {server} account, but {server} still refuses it. ${notRun} Check that the account may do this.`,
  shared_account: (failure) => `${sharedAccountMessage(failure)} ${notRun}`,
  'approval.decline': `${toApprove} and refused.[ Your reason: {reason}] {untouched}`,
  'approval.cancel': `${toApprove} and dismissed the question without deciding. {untouched} You can try again later.`,
  'approval.expired': `${toApprove}, but the time was up before there was an answer. {untouched} You can ask again.`,
  'approval.unsupported':
    'This needs your approval, and the client you use cannot show the request. {untouched} Ask again from a client that can show questions.',
  'approval.no-user': `This needs a person's approval. {untouched} ${service}`,
  'approval.too-many-open': `This needs your approval, but you have too many open questions. {untouched} ${answerFirst}`,
  'approval.too-many-in-turn':
    'This needs your approval, but too many questions are open in this turn. {untouched}',
  'approval.too-many-in-tenant':
    'This needs your approval, but too many questions are open in your organisation. {untouched} You can try again later.',
  approval_too_long: `This call needs your approval, and its arguments are too long to be shown (more than ${approvalLimit} characters). {untouched}`,
  not_as_approved: 'The call was not the one that you approved, so it was stopped. {untouched}',
  'form.decline': 'You chose not to answer.',
  'form.cancel': 'You closed the form without answering.',
  'form.expired': 'The time was up before you answered. You can ask again.',
  'form.unsupported': 'The client you use cannot show the form.',
  'form.too-many-open': `You have too many open questions, so you were not asked. ${answerFirst}`,
  'form.too-many-in-turn': 'Too many questions are open in this turn, so you were not asked.',
  'form.too-many-in-tenant':
    'Too many questions are open in your organisation, so you were not asked. You can try again later.',
  'form.no-user': 'The caller is a service, which cannot be asked.',
  'form.limit-reached': 'The agent has asked as many forms as are allowed in one turn.',
  'frontend_tool.decline': 'You declined {tool}.',
  'frontend_tool.cancel': '{tool} was closed without a result. It is not known whether the page ran it.',
  'frontend_tool.expired':
    'The page sent no result of {tool} in time. It is not known whether the page ran it. You can ask again.',
  'frontend_tool.unsupported': 'The client you use runs no tools of a page, so {tool} did not run.',
  'frontend_tool.no-user': 'The caller is a service, which has no page, so {tool} did not run.',
  'frontend_tool.too-many-open': `You have too many open questions, so {tool} was not called. ${answerFirst}`,
  'frontend_tool.too-many-in-turn':
    'Too many calls and questions are open in this turn, so {tool} was not called.',
  'frontend_tool.too-many-in-tenant':
    'Too many questions are open in your organisation, so {tool} was not called. You can try again later.',
  'too_many_questions.user': `{server} had a question, but you have too many open ones, so the call was stopped. ${doneBefore} ${answerFirst}`,
  'too_many_questions.turn': `{server} had a question, but too many are open in this turn, so the call was stopped. ${doneBefore}`,
  'too_many_questions.tenant': `{server} had a question, but too many are open in your organisation, so the call was stopped. ${doneBefore} You can try again later.`,
  too_many_held: `{server} had a question, but too many people are being asked at the moment, so the call was stopped. ${doneBefore} Try again later.`,
  'too_many_rounds.rounds': `{server} kept asking: it got {limit} rounds of answers and wanted more, so the call was stopped. ${doneBefore}`,
  'too_many_rounds.same-page': `{server} sent you to the same page {limit} times, so the call was stopped. ${doneBefore}`,
  'page_not_opened.decline': `${toOpen} and chose not to. ${notRun}`,
  'page_not_opened.cancel': `${toOpen} and dismissed the question without deciding. ${notRun} You can try again later.`,
  'page_not_opened.expired': `${toOpen}, but the time was up before you had. ${notRun} You can ask again.`,
  unaskable: ({ isTask }) =>
    `${unaskable} ${isTask ? 'The task was cancelled.' : 'The call did not complete.'}`,
  nobody_to_ask: 'The tool had a question that could not be asked in this call.',
  ended_while_asking: '{server} ended while you were asked. The call did not complete.',
  call_ended: 'The call has ended.',
  not_allowed: 'This agent may not use {tool}, so it did not run.',
  no_server: `There is no server “{server}” any more. ${notRun}`,
  not_called: `{server} could not be called because of a problem on our side. ${notRun} Try again in a moment.`,
  account_unusable: ({ isOperators }) =>
    isOperators
      ? `{trouble} ${notRun} The operator of this service has to correct this. Connecting again does not help.`
      : `{trouble} ${notRun} Try again later.`,
  server_trouble: ({ note }) => (note === undefined ? '{trouble}' : `{trouble} ${notRun}`),
  interrupted: `{trouble} The call did not complete. ${doneBefore} Nothing was sent twice. You can try again later.`,
  unknown_outcome: ({ trouble }) =>
    `{server} was called, ${trouble ? 'and then: {trouble}' : 'but its answer never arrived.'} It is unknown whether the action took place. It was not repeated. Check the state in {server} before trying again.`,
  tool_lost: `{tool} was stopped by an operator of this service and did not complete. ${doneBefore} Check before trying again.`,
  tool_stuck: `{tool} did not come to an end and was stopped: a mistake in the tool. ${doneBefore}`,
  tool_not_run: `{tool} could not be run because of a problem on our side. ${notRun} Try again in a moment.`,
  no_answer: `{agent} did not finish the task. {failure} ${doneBefore}`,
  empty_answer: `{agent} ended the task without an answer. ${doneBefore}`,
  no_tool: 'There is no tool “{tool}”.',
  bad_arguments: '{tool} was called with arguments that cannot be read, so it did not run.',
  tool_gone: 'There is no tool “{tool}”.',
  form_refused: 'You were not asked, because the form of the agent cannot be shown: {why}',
  no_task: '{tool} was called without a task, so it did not run.',
  'not_handed_on.too-often':
    '{agent} was not asked: the task had been handed on as often as allowed ({limit}).',
  'not_handed_on.too-many': '{agent} was not asked: an agent may hand out {limit} tasks at a time.',
  'unfinished.delegated': `The turn ended while another agent was at work on this task. ${doneBefore}`,
  'unfinished.delegated_replaced': `The agent waited for you, and you sent a new message. ${doneBefore}`,
  'unfinished.waiting': `The turn ended while this tool waited for you. It did not complete. ${doneBefore}`,
  'unfinished.waiting_replaced': `The tool waited for you, and you sent a new message. It did not complete. ${doneBefore}`,
  'unfinished.started':
    'The turn ended while this tool was running, so it is unknown whether the action took place. Check before trying again.',
  'unfinished.not_run': 'The turn ended before this tool could run.',
  'unfinished.not_run_replaced': `You were asked for something that this tool needs, and sent a new message. ${notRun}`,
});

const troubles = troubleSentences({
  cancelled: 'The call to {server} was cancelled.',
  timeout: '{server} did not answer within {seconds} s.',
  task_timeout: '{server} was not done within {seconds} s.',
  task_stopped: '{server} was not done within {seconds} s, and was told to stop.',
  answer_too_large: '{server} sent an answer larger than {megabytes} MB, which is not read any further.',
  connection_ended: '{server} ended the connection before it had answered.',
  session_lost:
    '{server} lost the session that the request belonged to (HTTP 404), as after a restart. Try again.',
  unreadable_message: '{server} answered {method} with a message that cannot be read.',
  not_mcp: '{server} did not answer like an MCP server.',
  not_mcp_process: '{server} did not answer like an MCP server.',
  redirected: '{server} sent a redirect (HTTP {status}) that is not followed.',
  no_endpoint: '{server} has no MCP endpoint at this address (HTTP 404).',
  busy: '{server} is receiving too many requests (HTTP 429). Try again later.',
  request_refused: '{server} refused the request (HTTP {status}).',
  failing: '{server} is in trouble (HTTP {status}). Try again later.',
  task_failing: '{server} is in trouble (HTTP {status}).',
  not_listening: '{server} cannot be reached: nothing is listening there.',
  unknown_host: '{server} cannot be reached: its host name is not known.',
  connect_timeout: '{server} cannot be reached: it did not accept a connection in time.',
  connection_broken: '{server} broke the connection off. Try again later.',
  certificate: '{server} cannot be reached: its TLS certificate was not accepted ({error}).',
  not_reached: '{server} cannot be reached[ ({error})].',
  command_not_found: '{server} cannot be started: command not found: {command}.',
  command_not_executable: '{server} cannot be started: {command} may not be executed.',
  no_folder: '{server} cannot be started: there is no folder {folder}.',
  user_not_permitted: '{server} cannot be started: the worker may not start programs as user {uid}.',
  not_started: '{server} cannot be started ({error}).',
  process_ended: '{server} ended before it had answered ({how}).',
  header_unsendable: ({ isTask }) =>
    `{server} was not ${isTask ? 'asked' : 'called'}: the value of its header "{header}" cannot be sent.`,
  other_era: '{server} does not speak MCP {era} (HTTP {status}), which its era in the agents file asks for.',
  era_learned:
    '{server} had to ask the user something, which it cannot do in the MCP version it was called with ({was}). From now on it is called with {now}, where it can: another call will ask.',
  tools_not_listed: '{server} cannot list its tools (error {error}).',
  too_many_tools:
    '{server} lists more than {tools} tools, 1 MB of descriptions or {pages} pages, which is more than is read.',
  call_refused: '{server} refused the call: {words}',
  call_failed: '{server} failed while it handled the call (error {error}).',
  unreadable_answer: '{server} answered in a form that cannot be read.',
  call_ended: 'The call has ended.',
  task_refused: '{server} refused the request: {words}',
  task_unknown: '{server} does not know its task any more.',
  task_cancelled: 'The task of {server} was cancelled.',
  task_end_unknown: '{server} ended the task in a state that is not known here.',
  no_messages: '{server} does not take messages at this address (HTTP {status}).',
  no_card: '{server} gives no agent card (HTTP {status}).',
  no_card_content: '{server} sends something else than an agent card.',
  card_late: '{server} did not send its agent card in time.',
  no_interface:
    '{server} offers no way to talk to it that is known here: its agent card has to name JSONRPC of A2A 1.0 or 0.3, or HTTP+JSON of 1.0.',
  other_host: 'The agent card of {server} sends messages to another host, where nothing is sent to.',
  execute_timeout: 'it did not end within {seconds} seconds.',
});

const notSetUp =
  'The assistant cannot answer because of a problem in its set-up. Tell the operator of this service.';
const again = 'Ask again to go on.';

const turns = turnSentences({
  MaxStepsReached: ({ isDelegated }) =>
    `The agent stopped after {maxSteps} steps without finishing.${isDelegated ? '' : ' Ask it to go on.'}`,
  UnknownAgent: 'There is no agent "{agent}" any more. Choose another one.',
  ModelRateLimited: 'The assistant has too much to do right now. Try again in a moment.',
  ModelUnavailable: 'The assistant cannot be reached right now. Try again in a moment.',
  ModelQuotaExhausted: notSetUp,
  ModelUnauthorized: notSetUp,
  ModelRefusedRequest: notSetUp,
  ModelMisconfigured: notSetUp,
  ModelContextTooLong: 'This conversation is too long for the assistant. Start a new one.',
  ModelContentPolicy: 'The assistant declined to answer because of its content policy. Rephrase the request.',
  ModelEmptyAnswer: ({ isOutOfRoom }) =>
    isOutOfRoom
      ? 'The assistant ran out of room before it said anything. Ask for something shorter.'
      : 'The assistant answered with nothing. Ask again, or in other words.',
  TurnFailed: 'Something went wrong on our side, and the answer could not be finished.',
  TurnLost: `The turn was lost before the answer was finished. ${again}`,
  TurnTerminated: `The turn was ended from outside before the answer was finished. ${again}`,
  TurnTimedOut: `The turn took longer than a turn may take, and was ended. ${again}`,
});

const signIn = '{server}: its sign-in server';
const untilAgreed = 'and nobody is sent there until the operator of this service has agreed.';
const operatorHas = 'so the operator of this service has to do it.';
const nango = 'Nango, which keeps the accounts of {server},';

const accountTroubles = accountSentences({
  no_user: '{server}: needs a user, and there is none.',
  needs_own_account: '{server}: needs an account of each user.',
  has_shared_account: '{server}: has one account for everybody, which operators connect.',
  no_account_needed: '{server}: does not ask for an account any more; go back and try again.',
  service_refused: '{server}: refuses calls of this service.',
  unreachable: '{server}: cannot be reached; try again later.',
  timeout: '{server}: did not answer in time; try again later.',
  'too-large': '{server}: answered with too much data; try again later.',
  redirected: '{server}: answered with a redirect, which is not followed here; try again later.',
  forbidden: '{server}: is not an http or https address without a password in it; try again later.',
  unreadable_document:
    '{server}: points to a document about its sign-in that cannot be read; tell its operator.',
  foreign_document: '{server}: publishes a sign-in that belongs to another address, so it is not trusted.',
  settings_changed: 'The configuration of this server has changed in the meantime. Start again.',
  failing: '{server}: answers with {status}; try again later.',
  // One sentence for all cases, so that users cannot find out what listens at the addresses that a server names.
  sign_in_unusable: `${signIn} cannot be reached or gives no usable answer; try again later.`,
  sign_in_without_https: '{server}: has a sign-in server that is not reached by https, so it is not used.',
  sign_in_renamed: `${signIn} names itself differently from what was expected, so it is not trusted.`,
  sign_in_undescribed: `${signIn} publishes no usable description; tell its operator.`,
  sign_in_changed: `{server}: has another sign-in server than before, ${untilAgreed}`,
  sign_in_not_as_written:
    '{server}: names another sign-in server than the operator of this service has written, so nobody is sent there.',
  sign_in_of_other: `{server}: names the sign-in server of another server, ${untilAgreed}`,
  no_pkce: `${signIn} does not offer PKCE with S256, which is required.`,
  pushed_requests: `${signIn} wants pushed authorization requests, which are not made here.`,
  unsafe_address: 'the address to sign in at does not begin with https://',
  request_refused: `${signIn} refused its request (HTTP {status}).`,
  refused: ({ error }) => `${signIn} refused with ${error === null ? 'an error' : '"{error}"'}.`,
  answered_error: ({ error }) =>
    `{server}'s sign-in server answered with ${error === null ? 'an error' : '"{error}"'}.`,
  client_not_accepted: ({ error }) =>
    `${signIn} does not accept this service as a client${error === null ? '' : ' ("{error}")'}, which the operator of this service has to correct.`,
  foreign_answer: "The answer did not come from {server}'s sign-in server, so it was not used.",
  incomplete_answer: "{server}'s sign-in server sent an incomplete answer.",
  no_registration: `${signIn} does not let us register ourselves, ${operatorHas}`,
  registration_refused: `${signIn} refuses to register us, ${operatorHas}`,
  registration_away: `${signIn} cannot register us now; try again later.`,
  client_removed: '{server}: its client was removed from the configuration.',
  client_forgotten: "{server}'s sign-in server does not know this service any more. Start again.",
  account_sealed: '{server}: the stored account cannot be opened ({why}).',
  key_sealed: '{server}: the stored API key cannot be opened ({why}).',
  account_changing: '{server}: the account keeps changing; try again.',
  account_locked: '{server}: another process has been renewing this account for too long; try again later.',
  nango_away: `${nango} cannot be reached right now.`,
  nango_busy: `${nango} has too much to do right now.`,
  nango_not_renewed: 'The access to {server} could not be renewed just now.',
  nango_misconfigured: `${nango} does not do what it is asked; an operator has to look at its settings.`,
  nango_locked: 'The account of {server} is being worked on; try again.',
  nango_no_token:
    'Nango has no token of the account of {server} for us; an operator has to look at its settings.',
  nango_sealed: 'The stored account of {server} cannot be opened ({why}).',
});

export const accountTrouble = (trouble: AccountTrouble): string =>
  sayAccountTrouble(accountTroubles, trouble);

/** Without what an operator can do about it. */
export const whatHappened = (trouble: ServerTrouble): string => sayTrouble(troubles, trouble);
export const turnFailure = (failure: TurnFailure): string => sayTurnFailure(turns, failure);

const parts = {
  sentences: calls,
  untouched: 'Nothing was sent to {server}.',
  notRun,
  stopped: 'It was stopped.',
  trouble: whatHappened,
  accountTrouble,
  turnFailure,
};

export const en: Words = {
  keyProblem,
  callFailure: (failure) => sayCallFailure(parts, failure),
  accountTrouble,
  turnFailure,
  question: ({ message }) => message,
  missingAccount({ serverTitle, account, url }) {
    if (account.code === 'shared_account') return sharedAccountMessage({ ...account, server: serverTitle });
    return elsewhere(connectionMessage(serverTitle, 'missing', account.tool, account.by), false, url);
  },
  elsewhere,
};

function keyProblem(server: string, problem: KeyProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'Enter the key.';
    case 'too-long':
      return `This is too long for a key: it has ${problem.length} characters, and ${problem.most} are the most.`;
    case 'space':
      return 'There is a space or a line break in this key. Enter the key alone, without a word like “Bearer” before it.';
    case 'character':
      return 'There is a character in this key that keys do not have. Copy it once more, and nothing around it.';
    case 'refused':
      return `${server} does not accept this key. Check that it is whole, and still valid there.`;
    case 'unclear':
      return `${server} gave no usable answer to this key. Check that it is whole, and still valid there. If it is, tell the operator of this service.`;
    case 'not-tried':
      return `The key could not be tried at ${server} right now, and was not kept. Try again in a moment.`;
    default:
      return problem satisfies never;
  }
}
