/**
 * The sign-in of a person at a provider: authorization code with PKCE and `resource`, and a state that only one browser can
 * redeem. `begin` makes the address to go to; `complete` checks the answer, redeems the code and stores the connection.
 */
import {
  computeScopeUnion,
  exchangeAuthorization,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { requireScope } from '../connection-key.ts';
import { scopesOf } from '@interlude-ai/core/oauth/scopes.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { AccountTrouble } from '../../turn/account-trouble.ts';
import { accountTrouble } from '../../turn/words/en.ts';
import { CredentialStoreError, storeError } from '../credential-store.ts';
import { accountFrom, freshUntil, resourceOf, sealAccount, tryOpenAccount } from './account.ts';
import type { Account } from './account.ts';
import { newState } from './records.ts';
import type { Attempt } from './records.ts';
import { redirectUri } from './client-metadata.ts';
import { revokeReplaced } from './disconnect.ts';
import { forgetNeeds, needsOf } from './discovery.ts';
import type { OAuthNeeds, OAuthParts, SharedParts } from './discovery.ts';
import { clientFor, clientInformation, confirmClient, forgetClient } from './registration.ts';
import { clientNotAccepted, codeOf, inWords, isClientRefused, knownCode, remedyFor } from './failure.ts';
import { accountName, readingTokens, refusesClient, subjectOf, TokenEndpointError } from '../oauth/tokens.ts';

export interface BeginInput {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null when no question asked for it: the user connects an account by themselves. */
  elicitationId: string | null;
  /** SHA-256 of the browser session that has to come back. */
  sessionHash: string;
  /**
   * Those that the question asks for. Default: those of an account that is being replaced, or else those that the server
   * publishes.
   */
  scopes?: string[] | undefined;
  /** Where to go after the sign-in. */
  returnUrl?: string | null;
}

/** Where to send the person. Throws `CredentialStoreError`, whose message is for the person. */
export async function begin(parts: OAuthParts, input: BeginInput): Promise<{ url: string }> {
  const { storage, keys, attempts, publicUrl } = parts;
  const { server, elicitationId, sessionHash, returnUrl = null } = input;
  const needs = await needsOf(parts);
  if (needs.kind === 'nothing') throw storeError(server, 'no_account_needed');
  const { authorizationServer } = needs;
  const resource = resourceOf(server, needs.resource);
  const client = await clientFor(parts, authorizationServer);
  const information = clientInformation(parts, client, authorizationServer.issuer, server);
  if (!information) throw storeError(server, 'client_removed');

  const key = requireScope(server, input.key);
  const held = heldScopes(keys, server, needs, await storage.connections.get(key));
  const scopes = scopesToRequest(server, needs, [...held, ...(input.scopes ?? [])]);
  const state = newState();
  const redirect = redirectUri(publicUrl, authorizationServer.issuer);
  try {
    const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer.issuer, {
      metadata: authorizationServer,
      clientInformation: information,
      redirectUrl: redirect,
      state,
      ...(resource !== null && { resource }),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    });
    // `set` also replaces the `prompt` that goes with lasting access.
    for (const [name, value] of Object.entries(server.oauth?.authorizationParams ?? {}))
      authorizationUrl.searchParams.set(name, value);
    const attempt = {
      key,
      serverUrl: server.url,
      authorizationServer,
      redirectUri: redirect,
      client,
      resource,
      scopes,
      codeVerifier,
      returnUrl,
    };
    await attempts.save({ state, sessionHash, elicitationId, attempt });
    return { url: authorizationUrl.href };
  } catch (error) {
    throw inWords(server, error);
  }
}

/** The scopes that are held now. A new grant replaces the old one, so they would be lost. */
function heldScopes(
  keys: KeyRing,
  server: ServerConfig,
  { authorizationServer }: OAuthNeeds,
  row: ConnectionRow | null,
): string[] {
  const opened = row?.store === 'oauth' ? tryOpenAccount(keys, row) : null;
  if (!row || opened?.kind !== 'account') return [];
  // Scopes only have a meaning at the sign-in server that granted them.
  const { serverUrl, issuer } = opened.account;
  return serverUrl === server.url && issuer === authorizationServer.issuer ? row.scopes : [];
}

/**
 * The operator's list, or else the server's, plus those that were asked for or are held. If the sign-in server offers them:
 * lasting access, and, unless the operator chose the scopes, the identity of the person.
 */
function scopesToRequest(
  server: ServerConfig,
  { scopes, authorizationServer }: OAuthNeeds,
  asked: string[],
): string[] {
  const base = server.oauth?.scopes ?? (asked.length > 0 ? [] : scopes);
  const wanted = scopesOf(computeScopeUnion(base.join(' '), asked.join(' ')));
  if (wanted.length === 0) return [];
  const offered = authorizationServer.scopes_supported ?? [];
  const identity = server.oauth?.scopes || !offered.includes('openid') ? [] : ['openid', 'email'];
  const extras = ['offline_access', ...identity].filter((scope) => offered.includes(scope));
  return [...new Set([...wanted, ...extras])];
}

export interface CompleteInput {
  /** The full address at which the browser came back. */
  callback: URL;
  sessionHash: string;
  serverByName: (name: string) => ServerConfig | undefined;
  /** Whether the person may connect this account, checked again now. Default: only an account of their own. */
  mayChange?: (key: ConnectionKey) => Promise<boolean>;
}

export type Completion =
  | (Outcome & Begun)
  /** Unknown, used, expired or another browser's. */
  | { kind: 'unknown-state' };

type Outcome =
  | { kind: 'connected'; version: number; account: string | null }
  /** The person declined at the provider. The question stays open. */
  | { kind: 'denied' }
  | { kind: 'not-allowed' }
  | Failed;

interface Failed {
  kind: 'failed';
  trouble: AccountTrouble;
  /** For operators. */
  reason: string;
  /** Starting again may help. */
  retry: boolean;
  /** The answer is not from the sign-in server that the person was sent to. */
  isForeign: boolean;
}

/** As it was when the person was sent to the provider. */
interface Begun {
  server: string;
  /** Null when no question asked for it. */
  elicitationId: string | null;
  returnUrl: string | null;
  key: ConnectionKey;
}

/** Failures of the provider are outcomes; only our own database makes this reject. */
export async function complete(parts: SharedParts, input: CompleteInput): Promise<Completion> {
  const { callback, sessionHash, serverByName, mayChange = isOwn } = input;
  const state = callback.searchParams.get('state');
  const taken = state === null ? null : await parts.attempts.take({ state, sessionHash });
  if (!taken) return { kind: 'unknown-state' };
  const { elicitationId, attempt } = taken;
  const { key, returnUrl } = attempt;
  const begun: Begun = { server: key.server, elicitationId, returnUrl, key };
  if (!(await mayChange(key))) return { kind: 'not-allowed', ...begun };
  const server = serverByName(key.server);
  const outcome =
    server?.url === attempt.serverUrl
      ? await useAnswer({ ...parts, server }, attempt, callback)
      : failed({ code: 'settings_changed', server: key.server });
  return { ...outcome, ...begun };
}

async function isOwn({ user }: ConnectionKey): Promise<boolean> {
  return user !== null;
}

async function useAnswer(parts: OAuthParts, attempt: Attempt, callback: URL): Promise<Outcome> {
  const { server } = parts;
  const params = callback.searchParams;
  if (!isAt(callback, attempt.redirectUri) || !isFromIssuer(params, attempt)) {
    return failed({ code: 'foreign_answer', server: server.title }, { isForeign: true });
  }
  await confirmClient(parts, attempt.client, accountOrigin(attempt));
  const error = params.get('error');
  if (error === 'access_denied') return { kind: 'denied' };
  if (error !== null) {
    if (['invalid_client', 'unauthorized_client'].includes(error)) return clientFailed(parts, attempt, error);
    const trouble = { code: 'answered_error', server: server.title, error: knownCode(error) } as const;
    const { forOperator: reason } = new CredentialStoreError(trouble, { detail: remedyFor(error) });
    return failed(trouble, { reason });
  }
  const code = params.get('code');
  if (code === null) return failed({ code: 'incomplete_answer', server: server.title });
  const redeemed = await redeem(parts, attempt, code);
  return redeemed.kind === 'failed' ? redeemed : connect(parts, attempt, redeemed);
}

function failed(
  trouble: AccountTrouble,
  { isForeign = false, reason = accountTrouble(trouble), retry = true } = {},
): Failed {
  return { kind: 'failed', trouble, reason, retry, isForeign };
}

interface Redeemed {
  kind: 'redeemed';
  tokens: OAuthTokens;
  account: Account;
}

async function redeem(parts: OAuthParts, attempt: Attempt, code: string): Promise<Redeemed | Failed> {
  const { server } = parts;
  try {
    const tokens = await exchange(parts, attempt, code);
    const connectedAt = parts.now();
    const origin = { ...accountOrigin(attempt), ...subjectOf(tokens.id_token), connectedAt };
    return { kind: 'redeemed', tokens, account: accountFrom(tokens, origin, connectedAt) };
  } catch (problem) {
    if (isClientRefused(problem)) return clientFailed(parts, attempt, codeOf(problem));
    const { trouble, forOperator: reason } = inWords(server, problem);
    return failed(trouble, { reason });
  }
}

type Exchanging = Pick<
  Attempt,
  'authorizationServer' | 'client' | 'codeVerifier' | 'redirectUri' | 'resource'
>;

async function exchange(
  parts: Pick<OAuthParts, 'server' | 'secret' | 'outbound'>,
  attempt: Exchanging,
  code: string,
): Promise<OAuthTokens> {
  const { server } = parts;
  const { authorizationServer, client, codeVerifier, resource } = attempt;
  const information = clientInformation(parts, client, authorizationServer.issuer, server);
  if (!information) throw storeError(server, 'client_removed');
  return exchangeAuthorization(authorizationServer.issuer, {
    metadata: authorizationServer,
    clientInformation: information,
    authorizationCode: code,
    // Checked before, also for error answers.
    iss: authorizationServer.issuer,
    codeVerifier,
    redirectUri: attempt.redirectUri,
    ...(resource !== null && { resource }),
    fetchFn: readingTokens(parts.outbound.of(server).fetch),
  });
}

/** The error code with which its sign-in server refuses the client of the agents file; null: it does not, or does not say. */
export async function refusalOfClient(
  parts: Pick<OAuthParts, 'server' | 'secret' | 'outbound' | 'publicUrl'>,
  { authorizationServer, resource }: OAuthNeeds,
): Promise<string | null> {
  const { server } = parts;
  const attempt = {
    authorizationServer,
    client: { kind: 'configured' as const, clientId: server.oauth?.clientId ?? '' },
    codeVerifier: newState(),
    redirectUri: redirectUri(parts.publicUrl, authorizationServer.issuer),
    resource: resourceOf(server, resource),
  };
  const failure = await exchange(parts, attempt, newState()).catch((error: unknown) => error);
  if (!(failure instanceof TokenEndpointError) || !('code' in failure.answer)) return null;
  return refusesClient(failure.answer) ? failure.answer.code : null;
}

async function connect(parts: OAuthParts, attempt: Attempt, { tokens, account }: Redeemed): Promise<Outcome> {
  const { storage, keys, server } = parts;
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
  // In the background, so that the call that waits is resumed first. A shared account may be in use by calls of all users:
  // it is only revoked when an operator disconnects it.
  if (replaced && key.user !== null) void revokeReplaced(parts, replaced, account, server);
  return { kind: 'connected', version, account: name };
}

/** Where we registered ourselves, the next sign-in registers a new client. */
async function clientFailed(parts: OAuthParts, attempt: Attempt, code: string | null): Promise<Failed> {
  const { server } = parts;
  await forgetClient(parts, attempt.client, accountOrigin(attempt));
  await forgetNeeds(parts);
  const { trouble, forOperator: reason } = clientNotAccepted(server, attempt.client, code);
  if (attempt.client.kind !== 'registered') return failed(trouble, { reason, retry: false });
  return failed({ code: 'client_forgotten', server: server.title });
}

function accountOrigin({ serverUrl, authorizationServer, resource, client }: Attempt) {
  return { serverUrl, issuer: authorizationServer.issuer, resource, client };
}

/** RFC 9700 §4.4.2.2: this address was only given to this sign-in server. */
function isAt(callback: URL, redirect: string): boolean {
  const { origin, pathname } = new URL(redirect);
  return callback.origin === origin && callback.pathname === pathname;
}

/** RFC 9207. Servers that send `iss` often omit it in error answers, from which nothing is redeemed. */
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
