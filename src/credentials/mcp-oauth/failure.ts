/** What failed at a server or its sign-in server, as errors that are safe to show: they never quote a peer. */
import { InsecureTokenEndpointError, IssuerMismatchError } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import { TokenEndpointError } from '../oauth/tokens.ts';
import type { Failed } from '../oauth/tokens.ts';
import type { AccountTrouble } from '../../turn/account-trouble.ts';
import { CredentialStoreError, shownServer, storeError } from '../credential-store.ts';
import type { ErrorSubject } from '../credential-store.ts';
import { OutboundError } from '@interlude-ai/core/oauth/locations.ts';

/** Converts any error of a library, a peer or the network. */
export function inWords(server: ErrorSubject, error: unknown): CredentialStoreError {
  if (error instanceof CredentialStoreError) return error;
  if (error instanceof OutboundError) return outboundError(server, error);
  if (error instanceof TokenEndpointError) return tokenError(server, error.answer);
  if (error instanceof IssuerMismatchError) return storeError(server, 'sign_in_renamed');
  if (error instanceof InsecureTokenEndpointError) return storeError(server, 'sign_in_without_https');
  return storeError(server, 'sign_in_unusable', unreadable(error));
}

/** The document of each required member. */
const documents = new Map([
  ...['issuer', 'authorization_endpoint', 'token_endpoint'].map((name) => [name, 'metadata of'] as const),
  ['client_id', 'registration at'],
] as const);

/** For operators. */
function unreadable(error: unknown): string {
  const issues = error instanceof Error && error.name === 'ZodError' ? (error as z.ZodError).issues : [];
  const member = issues.map(({ path }) => String(path[0])).find((name) => documents.has(name)) ?? '';
  const document = documents.get(member);
  return document === undefined
    ? 'its sign-in server answered with something unexpected'
    : `the ${document} its sign-in server has no usable "${member}"`;
}

function outboundError(server: ErrorSubject, error: OutboundError): CredentialStoreError {
  const { failure, host, message } = error;
  if (failure === 'plain-http') return storeError(server, 'sign_in_without_https', message);
  if (failure === 'not-public') {
    const remedy = 'write local: true for this server in the agents file if that is in your own network';
    return storeError(server, 'sign_in_unusable', `${message}, so it was not asked; ${remedy}`);
  }
  const isOwn = host === new URL(server.url).host;
  return isOwn ? storeError(server, failure) : storeError(server, 'sign_in_unusable', message);
}

function tokenError(server: ErrorSubject, answer: Failed): CredentialStoreError {
  const { status } = answer;
  switch (answer.kind) {
    case 'refused':
    case 'client-refused': {
      const trouble: AccountTrouble =
        answer.code === null
          ? { code: 'request_refused', server: shownServer(server), status }
          : { code: 'refused', server: shownServer(server), error: knownCode(answer.code) };
      return new CredentialStoreError(trouble, { detail: remedyFor(answer.code) });
    }
    case 'outage':
      return storeError(server, 'sign_in_unusable', `its token endpoint answered HTTP ${status}`);
    case 'unreadable':
      return storeError(
        server,
        'sign_in_unusable',
        `its token endpoint answered HTTP ${status} with ${answer.contentType} and without an access token`,
      );
    default:
      return answer satisfies never;
  }
}

/** What an operator can do about an error code of a sign-in server. */
export function remedyFor(code: string | null): string | undefined {
  return code !== null && resourceCodes.has(code)
    ? 'if it does not know the parameter "resource", write oauth.resource: false for this server in the agents file'
    : undefined;
}

const resourceCodes = new Set(['invalid_target', 'invalid_resource']);

/** Codes that a provider may send because of the `resource` parameter; some have no specific code for it. */
export function mayBeAboutResource(error: unknown): boolean {
  if (!(error instanceof TokenEndpointError) || error.answer.kind !== 'refused') return false;
  const { code } = error.answer;
  return code !== null && (resourceCodes.has(code) || ['invalid_request', 'invalid_scope'].includes(code));
}

/** A code that looks like one from the OAuth registries; others are not quoted. */
export function knownCode(code: string): string | null {
  return /^[a-z_]{1,40}$/.test(code) ? code : null;
}

/** The client that was used at the sign-in server. */
interface UsedClient {
  kind: 'configured' | 'document' | 'registered';
  clientId?: string;
}

/** What a failed request to a token endpoint means for the account it was about. */
type Verdict =
  /** A person has to connect the account again. */
  | 'refused'
  /** The operator has to fix something; then it works again. */
  | 'operators'
  /** The sign-in server cannot answer right now. */
  | 'outage'
  | 'unclear';

export function verdictOn(error: unknown, client: UsedClient): Verdict {
  if (error instanceof OutboundError)
    return ['unreachable', 'timeout'].includes(error.failure) ? 'outage' : 'unclear';
  if (!(error instanceof TokenEndpointError)) return 'unclear';
  switch (error.answer.kind) {
    case 'refused':
      return 'refused';
    case 'client-refused':
      // A new sign-in registers a new client.
      return client.kind === 'registered' ? 'refused' : 'operators';
    case 'outage':
      return 'outage';
    case 'unreadable':
      return 'unclear';
    default:
      return error.answer satisfies never;
  }
}

/** The sign-in server does not accept the client, for any user. */
export function isClientRefused(error: unknown): boolean {
  return error instanceof TokenEndpointError && error.answer.kind === 'client-refused';
}

export function codeOf(error: unknown): string | null {
  return error instanceof TokenEndpointError && 'code' in error.answer ? error.answer.code : null;
}

/** The error for a client that the sign-in server does not accept, and that a new sign-in would not replace. */
export function clientNotAccepted(
  server: ServerConfig,
  client: UsedClient,
  code: string | null,
  retryAfterMs?: number,
): CredentialStoreError {
  return new CredentialStoreError(
    {
      code: 'client_not_accepted',
      server: shownServer(server),
      error: code === null ? null : knownCode(code),
    },
    { detail: whatToCorrect(server, client), isOperators: true, retryAfterMs },
  );
}

function whatToCorrect({ name, oauth }: ServerConfig, client: UsedClient): string {
  if (client.kind === 'document') return `its sign-in server has to be able to read ${client.clientId ?? ''}`;
  const secret = oauth?.clientSecretEnv;
  const where = `oauth.clientId${secret === undefined ? '' : ` and the secret in ${secret}`}`;
  return (
    `check ${where} of servers.${name} in the agents file, and at its sign-in server that this client may use the ` +
    'grants authorization_code and refresh_token'
  );
}
