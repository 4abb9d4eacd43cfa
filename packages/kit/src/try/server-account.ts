/**
 * The account at an MCP server. Its token goes with every request, and is renewed when the server refuses it. If that fails, the
 * server gets nothing until a person signs in.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { auth } from '@modelcontextprotocol/client';
import type {
  AuthProvider,
  FetchLike,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { skippingBrokenDocuments } from '@interlude-ai/core/oauth/locations.ts';
import { readChallenge } from '@interlude-ai/core/oauth/scopes.ts';
import type { Challenge } from '@interlude-ai/core/oauth/scopes.ts';
import { readOAuthDocument, rewriting } from '@interlude-ai/core/oauth/documents.ts';
import { createKeptFiles, userFolder } from '../terminal/kept-files.ts';
import type { KeptFiles } from '../terminal/kept-files.ts';
import { listenOnLoopback, requireSafe } from '../terminal/loopback.ts';
import { abortable, exitCodes, TryError } from './exit-codes.ts';
import type { Target } from './read-connection.ts';

export type ServerAccount = ReturnType<typeof createServerAccount>;

interface AccountParts {
  server: URL;
  kept: KeptFiles<Account>;
  /** The program's client id, if the sign-in server has no registration. */
  clientId: string | undefined;
  say(text: string): void;
  open(url: string): void;
  signal: AbortSignal;
}

const timeoutMs = 15_000;

const oauthFetch: FetchLike = skippingBrokenDocuments(
  rewriting(readOAuthDocument, async (url: string | URL, init?: RequestInit) => {
    // Codes, secrets and tokens are posted to addresses that the server names.
    if (init?.method === 'POST') requireSafe(url);
    return fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  }),
);

function createServerAccount({ server, kept, clientId, say, open, signal }: AccountParts) {
  const name = accountName(server);
  const used = new Set<string>();
  let challenge: Challenge | undefined;
  let sent: string | undefined;
  const read = () => {
    const account = kept.read(name);
    const isOurs =
      account?.server === name && (clientId === undefined || account.client?.client_id === clientId);
    return isOurs ? account : null;
  };

  /** Of processes that are refused at once, one renews and the others use its result. */
  async function renew(refused: string | undefined, asked: Challenge): Promise<void> {
    await kept.locked(name, async () => {
      const account = read();
      if (!account?.tokens) throw new SignInNeeded();
      if (account.tokens.access_token !== refused) return;
      const { resourceMetadataUrl } = asked;
      await auth(accountProvider(account), {
        serverUrl: server,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        fetchFn: oauthFetch,
      });
      kept.write(name, account);
    });
  }

  return {
    /** The server has refused the token. */
    isNeeded: () => challenge !== undefined,
    /** The tokens that were sent. */
    secrets: () => [...used],
    /** The error for when no one can sign in. */
    needed: () =>
      new TryError(
        exitCodes.usage,
        `${name} wants ${challenge?.error === 'insufficient_scope' ? 'more rights than this account has given' : 'to know who you are'}. Give a token with --token, or run it in a terminal, without --json, to sign in.`,
      ),
    /** Notices refusals of a valid token with too few rights (RFC 6750 §3.1, `insufficient_scope`). */
    watch:
      (send: FetchLike): FetchLike =>
      async (url, init) => {
        const response = await send(url, init);
        const asked = response.status === 403 ? challengeOf(response) : undefined;
        if (asked?.error === 'insufficient_scope') challenge = asked;
        return response;
      },
    authProvider: {
      async token() {
        sent = read()?.tokens?.access_token;
        if (sent !== undefined) used.add(sent);
        return sent;
      },
      async onUnauthorized({ response }) {
        const asked = challengeOf(response);
        await response.body?.cancel();
        await renew(sent, asked).catch((cause: unknown) => {
          challenge = asked;
          throw new SignInNeeded(`${name} requires a sign-in.`, { cause });
        });
      },
    } satisfies AuthProvider,
    /** In the browser of this machine. Throws `TryError`. */
    async signIn(): Promise<void> {
      const { resourceMetadataUrl, scope } = challenge ?? {};
      using loopback = await listenOnLoopback('the same command');
      const { redirectUri } = loopback;
      const state = randomBytes(24).toString('base64url');
      const returned = loopback.returned(state);
      // It may never come; the error is another one then.
      returned.catch(() => undefined);
      const account: Account = {
        server: name,
        ...(clientId !== undefined && { client: { client_id: clientId } }),
      };
      const provider = accountProvider(account, {
        redirectUri,
        state,
        open(url) {
          say(
            `  ${name} wants to know who you are. Sign in in your browser; if it does not open by itself, go to:\n  ${url.href}\n`,
          );
          open(url.href);
        },
      });
      const where = {
        serverUrl: server,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
        fetchFn: oauthFetch,
      };
      try {
        requireSafe(server);
        await auth(provider, where);
        const { searchParams } = await abortable(returned, signal);
        if (searchParams.has('error')) throw new Error(`it was refused (${searchParams.get('error')})`);
        const [authorizationCode, iss] = [searchParams.get('code') ?? '', searchParams.get('iss')];
        await auth(provider, { ...where, authorizationCode, ...(iss !== null && { iss }) });
      } catch (cause) {
        throw new TryError(exitCodes.usage, failed(name, cause), { cause });
      }
      await kept.locked(name, async () => kept.write(name, account));
      challenge = undefined;
    },
  };
}

function challengeOf({ headers }: Response): Challenge {
  return readChallenge(headers.get('www-authenticate'));
}

function failed(name: string, cause: unknown): string {
  const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
  return `Signing in to ${name} failed: ${why}.`;
}

/** Undefined when the command line brings a token. */
export function accountAt(
  target: Target,
  headers: Headers,
  parts: Omit<AccountParts, 'server'>,
): ServerAccount | undefined {
  const isOpen = target.kind === 'process' || headers.has('authorization');
  return isOpen ? undefined : createServerAccount({ ...parts, server: target.url });
}

/** Repeats `work` once after a sign-in, if a person can sign in. */
export async function withAccount<T>(
  account: ServerAccount | undefined,
  canSignIn: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const done = await work();
    if (!account?.isNeeded()) return done;
  } catch (error) {
    if (!account?.isNeeded() || !canSignIn) throw error;
  }
  if (!canSignIn) throw account.needed();
  await account.signIn();
  return work();
}

/** A person has to sign in. */
class SignInNeeded extends Error {
  override name = 'SignInNeeded';
}

interface Browser {
  redirectUri: string;
  state: string;
  open(url: URL): void;
}

/**
 * Changes `account`. Without a browser it renews, and otherwise throws `SignInNeeded`. With one, the program registers
 * itself for this one sign-in, whose redirect uses a free port.
 */
function accountProvider(account: Account, browser?: Browser): OAuthClientProvider {
  let verifier = '';
  return {
    redirectUrl: browser?.redirectUri ?? 'http://127.0.0.1/callback',
    clientMetadata: {
      client_name: 'Interlude',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: browser ? [browser.redirectUri] : [],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    ...(browser && { state: () => browser.state }),
    clientInformation() {
      if (!browser && !account.client) throw new SignInNeeded();
      return account.client as StoredOAuthClientInformation | undefined;
    },
    saveClientInformation(client) {
      account.client = client;
    },
    tokens: () => account.tokens as StoredOAuthTokens | undefined,
    saveTokens(tokens) {
      account.tokens = tokens;
    },
    discoveryState: () => account.discovery as unknown as OAuthDiscoveryState | undefined,
    saveDiscoveryState(discovery) {
      account.discovery = { ...discovery };
    },
    redirectToAuthorization(url) {
      if (!browser) throw new SignInNeeded();
      requireSafe(url);
      browser.open(url);
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') delete account.client;
      if (scope === 'all' || scope === 'tokens') delete account.tokens;
      if (scope === 'all' || scope === 'discovery') delete account.discovery;
    },
  };
}

const accountSchema = z.object({
  server: z.string(),
  /** The program's registration at the sign-in server, with its secret if it has one. */
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  /** The sign-in server, as the server names it. */
  discovery: z.looseObject({ authorizationServerUrl: z.string() }).optional(),
});

type Account = z.infer<typeof accountSchema>;

export function accountFiles(environment: NodeJS.ProcessEnv): KeptFiles<Account> {
  const folder = path.join(userFolder(environment), 'servers');
  return createKeptFiles(folder, (value) => accountSchema.safeParse(value).data);
}

/** The address without its possible secrets. */
export function accountName({ origin, pathname }: URL): string {
  return origin + pathname;
}
