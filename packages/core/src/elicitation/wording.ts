/** The texts that people read about questions and accounts. */
import type { ConnectedBy, ConnectionReason } from './elicitation.ts';

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
  const aboutKey: Record<ConnectionReason, string> = {
    missing: `${serverTitle} needs an API key of yours ${aim}.`,
    rejected: `${serverTitle} refused your API key. Enter another one ${aim}.`,
    revoked: `${serverTitle} refused your API key. Enter another one ${aim}.`,
    insufficient_scope: `Your API key for ${serverTitle} lacks permissions. Enter one that has them ${aim}.`,
  };
  const aboutAccount: Record<ConnectionReason, string> = {
    missing: `${serverTitle} needs your account ${aim}.`,
    rejected: `${serverTitle} no longer accepts your connection. Connect again ${aim}.`,
    insufficient_scope: `${serverTitle} needs more permissions than you gave so far ${aim}.`,
    revoked: `Your connection to ${serverTitle} was revoked. Connect again ${aim}.`,
  };
  return (by === 'key' ? aboutKey : aboutAccount)[reason];
}

/** Why an API key was not kept. Nothing of it contains the key. */
export type KeyProblem =
  | { code: 'empty' | 'space' | 'character' }
  | { code: 'too-long'; length: number; most: number }
  /** `unclear`: the answer of the server may not be about the key. `not-tried`: there was none. `reason`: for operators. */
  | { code: 'refused' | 'unclear' | 'not-tried'; reason: string };

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

/** The question of a call of a tool of the front end, for those who see it elsewhere. */
export function frontendCallMessage(agent: string, tool: string): string {
  return `${agent} waits for the page to run “${nameInWords(tool)}”. If the page is no longer open, decline this.`;
}

/** The whole name of a tool in words, for a person who decides about it: `admin/delete_all` is not just "delete all". */
export function nameInWords(tool: string): string {
  const words = tool
    .split(/[./:]/)
    .map(inWords)
    .filter((word) => word !== '');
  return words.length === 0 ? tool : words.join(' ');
}

/** For the model's instructions: servers that cannot be reached, so that their tools are unknown. Empty if there are none. */
export function awayForModel(serverTitles: string[]): string {
  if (serverTitles.length === 0) return '';
  return `Not available right now: ${serverTitles.join(', ')}. If the request needs one of these, tell the user that it cannot be reached at the moment and may be tried again later.`;
}

/** An account that a tenant shares and that cannot be used. Users are not asked to connect it: only an operator may. */
interface SharedAccount {
  server: string;
  reason: ConnectionReason;
  /** The person or team to ask, from the agents file. */
  contact?: string | undefined;
}

export function sharedAccountMessage(account: SharedAccount): string {
  return `${sharedAccountTrouble(account)} ${sharedAccountRemedy(account)}`;
}

function whom(contact: string | undefined): string {
  return contact ?? 'the operator of this service';
}

export function sharedAccountTrouble({ server, reason }: SharedAccount): string {
  const troubles: Record<ConnectionReason, string> = {
    missing: 'it is not connected',
    rejected: `${server} refuses it`,
    insufficient_scope: 'it lacks a permission that this needs',
    revoked: 'its access was withdrawn',
  };
  return `${server} is used with one account for everybody here, and ${troubles[reason]}.`;
}

export function sharedAccountRemedy({ reason, contact }: SharedAccount): string {
  const what = reason === 'missing' ? 'connect it' : 'connect it again';
  return `Ask ${whom(contact)} to ${what}.`;
}
