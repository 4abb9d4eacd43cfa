/** The way back from the provider: the answer is checked, the code redeemed, the connection made. */
import { exchangeAuthorization, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { accountName, subjectOf } from '../oauth/id-token.ts';
import { scopesOf } from '../oauth/scopes.ts';
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
import { inWords, isClientRefused, quoteCode } from './failure.ts';

export interface CompleteInput {
  /** The address at which the browser came back, with all it brought. */
  callback: URL;
  sessionHash: string;
  serverByName: (name: string) => ServerConfig | undefined;
  /** Whether whoever comes back may give this account, also by now. Default: only one of their own. */
  mayChange?: (key: ConnectionKey) => Promise<boolean>;
}

export type Completion =
  | ({
      kind: 'connected';
      server: string;
      version: number;
      account: string | null;
    } & Begun)
  /** The person said no at the provider. The question stays open. */
  | ({ kind: 'denied'; server: string } & Begun)
  /** Unknown, used, expired or another browser's. */
  | { kind: 'unknown-state' }
  | ({ kind: 'not-allowed'; server: string } & Begun)
  /** `message` is a sentence for people. `retry`: starting again may help. `isForeign`: not its own server's answer. `reason` is for operators. */
  | ({
      kind: 'failed';
      server: string;
      message: string;
      reason: string;
      retry: boolean;
      isForeign: boolean;
    } & Begun);

/** As it was when the person left. */
interface Begun {
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

export function createComplete(deps: Dependencies) {
  const { storage, keys, attempts, discovery, registrations, outbound, revokeReplaced, publicUrl, now } =
    deps;

  async function complete({
    callback,
    sessionHash,
    serverByName,
    mayChange = async ({ user }) => user !== null,
  }: CompleteInput): Promise<Completion> {
    const params = callback.searchParams;
    const state = params.get('state');
    const taken = state === null ? null : await attempts.take({ state, sessionHash });
    if (!taken) return { kind: 'unknown-state' };
    const { elicitationId, attempt } = taken;
    const { key, returnUrl } = attempt;
    const begun: Begun = { elicitationId, returnUrl, key };
    const failed = (
      message: string,
      retry: boolean,
      { isForeign = false, reason = message } = {},
    ): Completion => ({
      kind: 'failed',
      ...begun,
      server: attempt.key.server,
      message,
      reason,
      retry,
      isForeign,
    });

    if (!(await mayChange(key))) return { kind: 'not-allowed', ...begun, server: key.server };
    const server = serverByName(attempt.key.server);
    if (!server || server.url !== attempt.serverUrl) {
      return failed('The configuration of this server has changed in the meantime. Start again.', true);
    }
    if (!isAt(callback, redirectOf(attempt)) || !isFromIssuer(params, attempt)) {
      return failed(
        `The answer did not come from ${server.title}'s sign-in server, so it was not used.`,
        true,
        { isForeign: true },
      );
    }
    await registrations.confirm(attempt.client, accountOrigin(attempt));
    const error = params.get('error');
    if (error === 'access_denied') return { kind: 'denied', ...begun, server: server.name };
    if (error !== null) {
      await forgetClientIf(['invalid_client', 'unauthorized_client'].includes(error), server, attempt);
      return failed(`${server.title}'s sign-in server answered with ${quoteCode(error)}.`, true);
    }
    const code = params.get('code');
    if (code === null) return failed(`${server.title}'s sign-in server sent an incomplete answer.`, true);

    let tokens: OAuthTokens;
    let account: Account;
    try {
      tokens = await redeem(server, attempt, code);
      account = accountFrom(tokens, { ...accountOrigin(attempt), ...subjectOf(tokens.id_token) }, now());
    } catch (problem) {
      await forgetClientIf(isClientRefused(problem), server, attempt);
      const operatorsFault = isClientRefused(problem) && attempt.client.kind === 'configured';
      const { message, forOperator: reason } = inWords(server, problem);
      return failed(message, !operatorsFault, { reason });
    }
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
    return { kind: 'connected', ...begun, server: server.name, version, account: name };
  }

  async function redeem(server: ServerConfig, attempt: Attempt, code: string): Promise<OAuthTokens> {
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
      redirectUri: redirectOf(attempt),
      resource,
      fetchFn: outbound.of(server).fetch,
    });
  }

  async function forgetClientIf(refused: boolean, server: ServerConfig, attempt: Attempt) {
    if (!refused) return;
    await registrations.forget(attempt.client, accountOrigin(attempt));
    await discovery.forget(server);
  }

  function redirectOf({ redirectUri }: Attempt): string {
    return redirectUri ?? publicUrl + sharedCallbackPath;
  }

  return complete;
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
