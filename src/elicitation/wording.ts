/**
 * The texts that people and models read about questions, accounts and tool calls. In one place, so that decline, cancel and
 * expiry stay three different things, also in the model's next sentence.
 */
import type { ConnectedBy, ConnectionReason, Outcome } from './elicitation.ts';

/**
 * The question above the Connect button. `tool`: undefined if all tools of the server wait for the account. `by`: how people
 * connect it.
 */
export function connectionMessage(
  serverTitle: string,
  reason: ConnectionReason,
  tool: string | undefined,
  by: ConnectedBy = 'sign-in',
): string {
  const aim = tool === undefined ? 'before its tools can be used' : `to ${inWords(tool)}`;
  if (by === 'key') return keyMessage(serverTitle, reason, aim);
  switch (reason) {
    case 'missing':
      return `${serverTitle} needs your account ${aim}.`;
    case 'rejected':
      return `${serverTitle} no longer accepts your connection. Connect again ${aim}.`;
    case 'insufficient_scope':
      return `${serverTitle} needs more permissions than you gave so far ${aim}.`;
    case 'revoked':
      return `Your connection to ${serverTitle} was revoked. Connect again ${aim}.`;
    default:
      return reason satisfies never;
  }
}

function keyMessage(serverTitle: string, reason: ConnectionReason, aim: string): string {
  switch (reason) {
    case 'missing':
      return `${serverTitle} needs an API key of yours ${aim}.`;
    case 'rejected':
    case 'revoked':
      return `${serverTitle} refused your API key. Enter another one ${aim}.`;
    case 'insufficient_scope':
      return `Your API key for ${serverTitle} lacks permissions. Enter one that has them ${aim}.`;
    default:
      return reason satisfies never;
  }
}

/** For a person whose client cannot show the question: what to do instead. `address`: of the page with their connections. */
export function elsewhere(question: string, isAsked: boolean, address?: string): string {
  const remedy = isAsked ? 'open this conversation in one that can' : 'ask again in one that can';
  const next = isAsked ? 'and this one goes on' : 'and ask again here';
  const here = address === undefined ? '' : `, or connect it at ${address} ${next}`;
  return `${question} The client you use cannot show the link to connect it: ${remedy}${here}.`;
}

/** The last part of a tool's name in words: `list_issues`, `createIssue`, `issues.search`. */
export function inWords(tool: string): string {
  const [name = tool] = tool.split(/[./:]/).slice(-1);
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[^a-zA-Z0-9]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** The whole name of a tool in words, for a person who decides about it: `admin/delete_all` is not just "delete all". */
export function nameInWords(tool: string): string {
  const words = tool
    .split(/[./:]/)
    .map(inWords)
    .filter((word) => word !== '');
  return words.length === 0 ? tool : words.join(' ');
}

/** Why a tool call ends without running the tool. */
export type Refusal =
  | Exclude<Outcome, 'accept'>
  /** The caller declared that it cannot present such a question. */
  | 'unsupported'
  /** The turn runs for a service, which has no account of its own to connect. */
  | 'no-user'
  /** Too many questions of the user are open to ask for the account. */
  | 'too-many-open'
  /** The same for the turn. */
  | 'too-many-in-turn'
  /** Too many questions of the user are open to ask the server's question. */
  | 'question-too-many'
  /** The same for the turn. */
  | 'question-too-many-in-turn'
  /** The account was connected, but the server still refuses it. */
  | 'still-refused'
  /** The call could not be made because of a problem on our side. */
  | 'failed';

/**
 * The tool's result for the model. Says whether the user was asked, so that the model does not invent a question. `address`:
 * the page with the user's connections, if connecting the account helps.
 */
export function refusalForModel(refusal: Refusal, serverTitle: string, address?: string): string {
  const notRun = 'The tool did not run.';
  const later = address === undefined ? '' : ` The user can connect it at any time at ${address}.`;
  const place = address === undefined ? 'from a client that can' : `at ${address}`;
  switch (refusal) {
    case 'decline':
      return `The user was asked to connect their ${serverTitle} account and chose not to. ${notRun} Respect that: go on without it, and do not ask again unless the user brings it up.${later}`;
    case 'cancel':
      return `The user was asked to connect their ${serverTitle} account and dismissed the question without deciding. ${notRun} Offer to try again later.${later}`;
    case 'expired':
      return `The user was asked to connect their ${serverTitle} account, but nobody answered before the question expired. ${notRun} Tell the user that it timed out and that they can ask again.${later}`;
    case 'unsupported':
      return `This needs the user's ${serverTitle} account, and the client they use cannot show the request to connect it, so nobody was asked. ${notRun} Tell the user to connect ${serverTitle} ${place}, then to try again.`;
    case 'no-user':
      return `This needs a person's ${serverTitle} account, but the caller is a service and has none. ${notRun} It works when called on behalf of a signed-in user.`;
    case 'too-many-open':
      return `The user already has too many open questions, so nobody was asked to connect ${serverTitle}. ${notRun} Ask the user to answer those first.`;
    case 'question-too-many':
      return `${serverTitle} had a question in the middle of the call, but the user already has too many open ones, so nobody was asked. The call was stopped; what it had done before stays done. Ask the user to answer those first.`;
    case 'too-many-in-turn':
      return `As many questions are open in this turn as may be, so nobody was asked to connect ${serverTitle}. ${notRun} Once those are answered, it can be called again.`;
    case 'question-too-many-in-turn':
      return `${serverTitle} had a question in the middle of the call, but as many are open in this turn as may be, so nobody was asked. The call was stopped; what it had done before stays done. Once those are answered, it can be called again.`;
    case 'still-refused':
      return `The user connected their ${serverTitle} account, but ${serverTitle} still refuses it. ${notRun} Tell the user to check that the account may do this, instead of asking again.`;
    case 'failed':
      return `${serverTitle} could not be called because of a problem on our side. ${notRun} Tell the user to try again in a moment.`;
    default:
      return refusal satisfies never;
  }
}

/** The server refuses the call until the user has opened one of its pages, and the user has not. */
export function pageNotOpenedForModel(outcome: Exclude<Outcome, 'accept'>, serverTitle: string): string {
  const page = `open a page of ${serverTitle} that this tool needs first`;
  const notRun = 'The tool did not run.';
  switch (outcome) {
    case 'decline':
      return `The user was asked to ${page} and chose not to. ${notRun} Respect that, and do not ask again unless the user brings it up.`;
    case 'cancel':
      return `The user was asked to ${page} and dismissed the question without deciding. ${notRun} Offer to try again later.`;
    case 'expired':
      return `The user was asked to ${page}, but nobody answered in time. ${notRun} Tell the user that it timed out and that they can ask again.`;
    default:
      return outcome satisfies never;
  }
}

/** Added to the result of a call in which `expired` of the `asked` questions expired; its server got `cancel` for them. */
export function expiredForModel(serverTitle: string, expired: number, asked: number): string {
  const what =
    asked === 1
      ? `${serverTitle} asked the user a question in the middle of this call`
      : `${serverTitle} asked the user ${asked} questions in the middle of this call`;
  const which =
    expired === asked
      ? `nobody answered before ${asked === 1 ? 'it' : 'they'} expired`
      : `nobody answered ${expired} of them before the time was up`;
  return `${what}, but ${which}. ${serverTitle} was told "cancel", having no word for that: the user did not dismiss anything. Tell the user that it timed out and that they can ask again.`;
}

/** A server that keeps asking: the same page again and again, or one question after another. */
export function tooManyRoundsForModel(
  serverTitle: string,
  what: 'rounds' | 'same-page',
  limit: number,
): string {
  const why =
    what === 'rounds'
      ? `${serverTitle} kept asking: it was given ${limit} rounds of answers and still wanted more`
      : `${serverTitle} sent the user to the same page ${limit} times and still wants it opened`;
  return `${why}, so the call was stopped. What it had done before stays done. Tell the user, and do not repeat the call by yourself.`;
}

/** A server that keeps its connection open while people think, when too many connections are open already. */
export function tooManyHeldForModel(serverTitle: string): string {
  return `${serverTitle} had a question in the middle of the call, but as many users as can be waited for are being waited for already, so nobody was asked. The call was stopped; what it had done before stays done. Tell the user that it may be tried again later.`;
}

/** For the model's instructions: servers that cannot be reached, so that their tools are unknown. Empty if there are none. */
export function awayForModel(serverTitles: string[]): string {
  if (serverTitles.length === 0) return '';
  return `Not available right now: ${serverTitles.join(', ')}. If the request needs one of these, tell the user that it cannot be reached at the moment and may be tried again later.`;
}

/** The agents file does not list the tool for this agent. */
export function notAllowedForModel(toolName: string): string {
  return `This agent may not use ${toolName}, so it did not run. Go on without it.`;
}

/**
 * The request may have reached the server, and no answer came: it must not be repeated blindly. `trouble`: the reason, in a
 * sentence, if it is known.
 */
export function unknownOutcomeForModel(serverTitle: string, trouble?: string): string {
  const what =
    trouble === undefined
      ? `${serverTitle} was called, but its answer never arrived, so`
      : `${serverTitle} was called, and then: ${trouble} So`;
  return `${what} it is unknown whether the action took place. It was not repeated. Check the state in ${serverTitle} before trying again, and tell the user.`;
}

/** A call waited for the user, and then its server could not be reached. */
export function interruptedForModel(trouble: string): string {
  return `${trouble} It was in the middle of the call, which did not complete; what it had done before stays done. Nothing was sent twice. Tell the user that they can try again later.`;
}

/** A tool in TypeScript whose workflow was ended from outside, with unknown effects. */
export function lostToolForModel(toolName: string): string {
  return `${toolName} was stopped in the middle by somebody who looks after this service. It did not complete; whatever it had done before stays done. Check before it is called again, and tell the user.`;
}

/** A tool in TypeScript whose code never yields. */
export function stuckToolForModel(toolName: string): string {
  return `${toolName} was ended, because it did not come to an end: a mistake in the tool. Whatever it had done before stays done. Do not call it again with the same arguments, and tell the user.`;
}

/** A tool in TypeScript that no worker has started. */
export function unrunToolForModel(toolName: string): string {
  return `${toolName} could not be run because of a problem on our side: no worker has its code. The tool did not run. Tell the user to try again in a moment.`;
}

/** For an agent whose delegate has no answer. `trouble`: the reason, in a sentence. */
export function unansweredForModel(agentTitle: string, trouble: string | undefined): string {
  const why = trouble ?? 'It was stopped.';
  return `${agentTitle} did not finish the task. ${why} Whatever it had done before stays done: check before the task is handed over again.`;
}

/** The result of a call whose turn ended first; the model reads it in the next turn. */
export function unfinishedForModel(
  end: 'completed' | 'failed' | 'cancelled' | 'superseded',
  state: 'requested' | 'started' | 'paused' | 'finished' | 'delegated',
): string {
  if (state === 'delegated')
    return end === 'superseded'
      ? 'The agent with this task was waiting for the user, who sent a new message instead of answering. What it had done before stays done. Answer the new message.'
      : 'The turn ended while another agent was at work on this task. What it had done until then stays done.';
  // A superseded turn only waited for people, also in started calls: those that hold a connection, and tools in TypeScript.
  if (state === 'paused' || (state === 'started' && end === 'superseded'))
    return end === 'superseded'
      ? 'The tool was waiting for the user, who sent a new message instead of answering. It did not complete; what it had done before stays done. Answer the new message.'
      : 'The turn ended while this tool was waiting for the user. It did not complete; what it had done before stays done.';
  if (state === 'started')
    return 'The turn ended while this tool was running, so it is unknown whether the action took place. Check before trying again.';
  return end === 'superseded'
    ? 'The user was asked for something this tool needs and sent a new message instead of answering. The tool did not run. Answer the new message.'
    : 'The turn ended before this tool could run.';
}

/** An account that a tenant shares and that cannot be used. Users are not asked to connect it: only an operator may. */
interface SharedAccount {
  serverTitle: string;
  reason: ConnectionReason;
  /** The person or team to ask, from the agents file. */
  contact: string | undefined;
}

export function sharedAccountMessage(account: SharedAccount): string {
  return `${troubleOf(account)} ${remedyFor(account)}`;
}

export function sharedAccountForModel(account: SharedAccount): string {
  return `${troubleOf(account)} Only an operator can connect it, not the user. The tool did not run. Tell the user: ${remedyFor(account)}`;
}

export function askWhom(contact: string | undefined): string {
  return `Ask ${whom(contact)}.`;
}

function whom(contact: string | undefined): string {
  return contact ?? 'the operator of this service';
}

function troubleOf({ serverTitle, reason }: SharedAccount): string {
  const one = `${serverTitle} is used with one account for everybody here`;
  switch (reason) {
    case 'missing':
      return `${one}, and it is not connected.`;
    case 'rejected':
      return `${one}, and ${serverTitle} refuses it.`;
    case 'insufficient_scope':
      return `${one}, and it lacks a permission that this needs.`;
    case 'revoked':
      return `${one}, and its access was withdrawn.`;
    default:
      return reason satisfies never;
  }
}

function remedyFor({ reason, contact }: SharedAccount): string {
  const what = reason === 'missing' ? 'connect it' : 'connect it again';
  return `Ask ${whom(contact)} to ${what}.`;
}

/** The result of a question that the model asked by `ask_user`. `question`: as text, so that the model can ask in words. */
export function modelQuestionForModel(
  result:
    | Exclude<Outcome, 'accept'>
    | 'unsupported'
    | 'too-many-open'
    | 'too-many-in-turn'
    | 'no-user'
    | 'limit-reached',
  question: string,
): string {
  switch (result) {
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
      return result satisfies never;
  }
}

/** Added to the result of a tool whose questions could not be asked. Null if there were none. */
export function unaskedForModel(questions: string[], hasUser: boolean): string | null {
  if (questions.length === 0) return null;
  const why = hasUser
    ? 'The client the user has cannot show what the tool asks, so nobody was asked. Tell the user what it wanted to know, and that it can ask them from a client that shows questions:'
    : 'The caller is a service, and no person is there to be asked. Say in your answer what the tool wanted to know; it can ask when it is called on behalf of a signed-in user:';
  return [why, ...questions].join('\n');
}

/** Added to the error of a server that asked in a turn of a service: the error speaks of a user's client. */
export const nobodyToAskForModel =
  'The caller is a service, and no person is there to be asked: it works when called on behalf of a signed-in user.';
