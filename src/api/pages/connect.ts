/** Connecting an account, for a question or from the settings: by an API key, at the server's provider, or by way of Nango. */
import { isSafeToOpen } from '@interlude-ai/core/elicitation/url-safety.ts';
import { CredentialStoreError } from '../../service/accounts.ts';
import type { AccountTrouble } from '../../turn/account-trouble.ts';
import type { KeyProblem } from '@interlude-ai/core/elicitation/wording.ts';
import type { Accounts, BeginInput, ConnectionKey } from '../../service/accounts.ts';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { NangoAttempts, NangoBegin } from '../../service/nango-attempts.ts';
import { requireNango } from './context.ts';
import type { PageContext } from './context.ts';
import type { Page, Redirect } from './layout.ts';
import { sessionHash } from './login/session.ts';
import type { Session } from './login/session.ts';
import { leavingPage } from './outcome-pages.ts';
import { wordsFor } from './words.ts';
import type { PageWords } from './words.ts';

export interface ConnectGoal {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null: from the settings. */
  elicitationId: string | null;
  scopes?: string[] | undefined;
  /** Where to go if the account is connected, or the question closed, without leaving to a provider. */
  doneUrl: string;
  /** Asked after looking for what became of earlier attempts at Nango, of which there were so many. */
  isReached(attempts: number): Promise<boolean>;
  keyPage(problem?: KeyProblem): Page;
  failedPage(trouble: AccountTrouble): Page;
  logFields: object;
}

/** Who connects, and from which IP address. */
export interface Person {
  session: Session;
  address: string;
}

/** Returns the next page, or a redirect to it. `entered`: the API key in the form, if there is one. */
export async function connect(
  context: PageContext,
  goal: ConnectGoal,
  { session, address }: Person,
  entered: string | undefined,
): Promise<Page | Redirect> {
  const { accounts, logger } = context;
  const { server, key, elicitationId, scopes } = goal;
  const actor = session.user;
  const words = wordsFor(session.language);
  const connectedBy = accounts.connectedBy(server);
  try {
    switch (connectedBy) {
      case 'key': {
        if (entered === undefined) return goal.keyPage();
        const refused = await accounts.giveKey({ server, key, entered, actor, address, elicitationId });
        return refused ? goal.keyPage(refused) : { redirectTo: goal.doneUrl };
      }
      case 'window': {
        // In the same window: for browsers without scripts or with blocked pop-ups.
        const nango = requireNango(context);
        const attempts = await nango.lookBack(key, elicitationId, address);
        if (await goal.isReached(attempts.length)) return { redirectTo: goal.doneUrl };
        return await leaveByNango(words, nango, { server, key, elicitationId, actor, scopes });
      }
      case 'sign-in': {
        const { returnUrl } = session;
        const input = { server, key, elicitationId, sessionHash: sessionHash(session), returnUrl };
        return await leaveTo(words, accounts, { ...input, ...(scopes && { scopes }) });
      }
      default:
        return connectedBy satisfies never;
    }
  } catch (error) {
    if (connectedBy === 'key' || !(error instanceof CredentialStoreError)) throw error;
    const { trouble, forOperator: reason } = error;
    logger.warn({ ...goal.logFields, server: server.name, reason }, 'connecting could not begin');
    return goal.failedPage(trouble);
  }
}

/** Throws `CredentialStoreError`. */
export async function leaveTo(
  words: PageWords,
  accounts: Pick<Accounts, 'beginAuthorization'>,
  input: BeginInput,
): Promise<Page> {
  const { url } = await accounts.beginAuthorization(input);
  const address = safeAddress(input.server, url);
  return leavingPage(words, input.server.title, address.href, words.signInThere(address.host));
}

/** By way of Nango, which does not redirect back. */
export async function leaveByNango(
  words: PageWords,
  nango: Pick<NangoAttempts, 'begin'>,
  input: NangoBegin,
): Promise<Page> {
  const { pageUrl } = await nango.begin(input);
  const address = safeAddress(input.server, pageUrl);
  const explanation = words.byWayOf(address.host, input.elicitationId !== null);
  return leavingPage(words, input.server.title, address.href, explanation);
}

/** The URL comes from the authorization server's metadata or from Nango, and the page opens it. */
function safeAddress({ title }: ServerConfig, url: string): URL {
  if (!isSafeToOpen(url)) throw new CredentialStoreError({ code: 'unsafe_address', server: title });
  return new URL(url);
}
