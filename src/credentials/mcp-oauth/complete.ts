/** The way back from the provider: the answer is checked, the code redeemed, the connection made. */
import { exchangeAuthorization, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { accountName, subjectOf } from '../oauth/id-token.ts';
import { scopesOf } from '../oauth/scopes.ts';
import { readingTokens } from '../oauth/token-answer.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { storeError } from '../store-error.ts';
import { accountFrom, freshUntil, sealAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Attempt, Attempts } from './attempt.ts';
import { sharedCallbackPath } from './client-metadata.ts';
import type { Discovery } from './discovery.ts';
import type { Outbound } from './outbound.ts';
import type { Registrations } from './registration.ts';
import type { RevokeReplaced } from './disconnect.ts';
import { clientNotAccepted, codeOf, inWords, isClientRefused, quoteCode, remedyFor } from './failure.ts';

export interface CompleteInput {
  /** The address at which the browser came back, with all it brought. */
  callback: URL;
  sessionHash: string;
  serverByName: (name: string) => ServerConfig | undefined;
  /** Whether whoever comes back may give this account, also by now. Default: only one of their own. */
  mayChange?: (key: ConnectionKey) => Promise<boolean>;
}

export type Completion =
  | (Outcome & Begun)
  /** Unknown, used, expired or another browser's. */
  | { kind: 'unknown-state' };

type Outcome =
  | { kind: 'connected'; version: number; account: string | null }
  /** The person said no at the provider. The question stays open. */
  | { kind: 'denied' }
  | { kind: 'not-allowed' }
  | Failed;

interface Failed {
  kind: 'failed';
  /** A sentence for people. */
  message: string;
  /** For operators. */
  reason: string;
  /** Starting again may help. */
  retry: boolean;
  /** Not its own server's answer. */
  isForeign: boolean;
}

/** As it was when the person left. */
interface Begun {
  server: string;
  /** Null when nobody asked. */
  elicitationId: string | null;
  returnUrl: string | null;
  key: ConnectionKey;
}

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  attempts: Attempts;
  discovery: Discovery;
  registrations: Registrations;
  outbound: Outbound;
  revokeReplaced: RevokeReplaced;
  publicUrl: string;
  now: () => number;
}

export function createComplete(parts: Dependencies) {
  return (input: CompleteInput) => complete(parts, input);
}

async function complete(parts: Dependencies, input: CompleteInput): Promise<Completion> {
  const { callback, sessionHash, serverByName, mayChange = isOwn } = input;
  const state = callback.searchParams.get('state');
  const taken = state === null ? null : await parts.attempts.take({ state, sessionHash });
  if (!taken) return { kind: 'unknown-state' };
  const { elicitationId, attempt } = taken;
  const { key, returnUrl } = attempt;
  const begun: Begun = { server: key.server, elicitationId, returnUrl, key };
  if (!(await mayChange(key))) return { kind: 'not-allowed', ...begun };
  const outcome = await useAnswer(parts, attempt, serverByName(key.server), callback);
  return { ...outcome, ...begun };
}

async function isOwn({ user }: ConnectionKey): Promise<boolean> {
  return user !== null;
}

async function useAnswer(
  parts: Dependencies,
  attempt: Attempt,
  server: ServerConfig | undefined,
  callback: URL,
): Promise<Outcome> {
  const params = callback.searchParams;
  if (!server || server.url !== attempt.serverUrl)
    return failed('The configuration of this server has changed in the meantime. Start again.');
  if (!isAt(callback, redirectOf(parts, attempt)) || !isFromIssuer(params, attempt)) {
    const message = `The answer did not come from ${server.title}'s sign-in server, so it was not used.`;
    return failed(message, { isForeign: true });
  }
  await parts.registrations.confirm(attempt.client, accountOrigin(attempt));
  const error = params.get('error');
  if (error === 'access_denied') return { kind: 'denied' };
  if (error !== null) {
    if (['invalid_client', 'unauthorized_client'].includes(error))
      return clientFailed(parts, server, attempt, error);
    const message = `${server.title}'s sign-in server answered with ${quoteCode(error)}.`;
    const remedy = remedyFor(error);
    return failed(message, { reason: remedy === undefined ? message : `${message} (${remedy})` });
  }
  const code = params.get('code');
  if (code === null) return failed(`${server.title}'s sign-in server sent an incomplete answer.`);
  const redeemed = await redeem(parts, server, attempt, code);
  return redeemed.kind === 'failed' ? redeemed : connect(parts, server, attempt, redeemed);
}

function failed(message: string, { isForeign = false, reason = message, retry = true } = {}): Failed {
  return { kind: 'failed', message, reason, retry, isForeign };
}

interface Redeemed {
  kind: 'redeemed';
  tokens: OAuthTokens;
  account: Account;
}

async function redeem(
  parts: Dependencies,
  server: ServerConfig,
  attempt: Attempt,
  code: string,
): Promise<Redeemed | Failed> {
  try {
    const tokens = await exchange(parts, server, attempt, code);
    const connectedAt = parts.now();
    const origin = { ...accountOrigin(attempt), ...subjectOf(tokens.id_token), connectedAt };
    return { kind: 'redeemed', tokens, account: accountFrom(tokens, origin, connectedAt) };
  } catch (problem) {
    if (isClientRefused(problem)) return clientFailed(parts, server, attempt, codeOf(problem));
    const { message, forOperator: reason } = inWords(server, problem);
    return failed(message, { reason });
  }
}

async function exchange(
  { registrations, outbound, publicUrl }: Dependencies,
  server: ServerConfig,
  attempt: Attempt,
  code: string,
): Promise<OAuthTokens> {
  const { authorizationServer, client, codeVerifier, resource } = attempt;
  const clientInformation = registrations.informationOf(client, authorizationServer.issuer, server);
  if (!clientInformation) throw storeError(server, 'its client was removed from the configuration');
  return exchangeAuthorization(authorizationServer.issuer, {
    metadata: authorizationServer,
    clientInformation,
    authorizationCode: code,
    // Checked before, together with the error answers.
    iss: authorizationServer.issuer,
    codeVerifier,
    redirectUri: redirectOf({ publicUrl }, attempt),
    ...(resource !== null && { resource }),
    fetchFn: readingTokens(outbound.of(server).fetch),
  });
}

async function connect(
  { storage, keys, revokeReplaced }: Dependencies,
  server: ServerConfig,
  attempt: Attempt,
  { tokens, account }: Redeemed,
): Promise<Outcome> {
  const { key } = attempt;
  const name = accountName(tokens.id_token);
  const replaced = await storage.connections.get(key);
  const version = await storage.connections.establish(key, {
    store: 'oauth',
    account: name,
    scopes: tokens.scope === undefined ? attempt.scopes : scopesOf(tokens.scope),
    sealed: sealAccount(keys, key, account),
    freshUntil: freshUntil(account),
  });
  // Nobody waits for it: whoever asked is told of the new account first. Of an account that is shared, calls of
  // everybody may be under way: it ends at its provider when an operator disconnects it, and not before.
  if (replaced && key.user !== null) void revokeReplaced(replaced, account, server);
  return { kind: 'connected', version, account: name };
}

/** Where we registered ourselves, the person comes back as a new client. */
async function clientFailed(
  { registrations, discovery }: Dependencies,
  server: ServerConfig,
  attempt: Attempt,
  code: string | null,
): Promise<Failed> {
  await registrations.forget(attempt.client, accountOrigin(attempt));
  await discovery.forget(server);
  const { message, forOperator: reason } = clientNotAccepted(server, attempt.client, code);
  if (attempt.client.kind !== 'registered') return failed(message, { reason, retry: false });
  return failed(`${server.title}'s sign-in server does not know this service any more. Start again.`);
}

function redirectOf({ publicUrl }: Pick<Dependencies, 'publicUrl'>, { redirectUri }: Attempt): string {
  return redirectUri ?? publicUrl + sharedCallbackPath;
}

function accountOrigin({ serverUrl, authorizationServer, resource, client }: Attempt) {
  return { serverUrl, issuer: authorizationServer.issuer, resource, client };
}

/** RFC 9700 §4.4.2.2: only this sign-in server was given this address. */
function isAt(callback: URL, redirect: string): boolean {
  const { origin, pathname } = new URL(redirect);
  return callback.origin === origin && callback.pathname === pathname;
}

/** RFC 9207. Error answers of servers that otherwise send `iss` often lack it; nothing is redeemed from those. */
function isFromIssuer(params: URLSearchParams, { authorizationServer }: Attempt): boolean {
  try {
    validateAuthorizationResponseIssuer({
      iss: params.get('iss') ?? undefined,
      expectedIssuer: authorizationServer.issuer,
      issParameterSupported:
        authorizationServer.authorization_response_iss_parameter_supported === true && !params.has('error'),
    });
    return true;
  } catch {
    return false;
  }
}
