/**
 * The account at an MCP server that wants one: its token goes with every request, and is renewed when the server does not
 * take it. Where that is not enough, the server gets nothing, and somebody has to sign in before it is asked again.
 */
import { randomBytes } from 'node:crypto';
import { auth } from '@modelcontextprotocol/client';
import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import { skippingBrokenDocuments } from '../../../credentials/mcp-oauth/locations.ts';
import { readChallenge } from '../../../credentials/oauth/challenge.ts';
import type { Challenge } from '../../../credentials/oauth/challenge.ts';
import { readOAuthDocument, rewriting } from '../../../network/oauth-documents.ts';
import type { KeptFiles } from '../../login/kept-files.ts';
import { listenOnLoopback, requireSafe } from '../../login/loopback.ts';
import { exitCodes, TryError } from '../exit-codes.ts';
import type { Target } from '../target.ts';
import { abortable } from '../abortable.ts';
import { accountName } from './account-file.ts';
import type { Account } from './account-file.ts';
import { accountProvider, SignInNeeded } from './account-provider.ts';

export interface ServerAccount {
  authProvider: AuthProvider;
  /** Hears of a refusal because the token is not for this (RFC 6750 §3.1, `insufficient_scope`). */
  watch(send: FetchLike): FetchLike;
  /** The server has refused what there was. */
  isNeeded(): boolean;
  /** Why it did nothing, and what to do: for where nobody can sign in. */
  needed(): TryError;
  /** With the browser of this machine. Throws `TryError`. */
  signIn(): Promise<void>;
  /** Of the tokens that went over the wire. */
  secrets(): string[];
}

interface Parts {
  server: URL;
  kept: KeptFiles<Account>;
  /** The program, where the sign-in server lets none register itself. */
  clientId: string | undefined;
  say(text: string): void;
  open(url: string): void;
  signal: AbortSignal;
}

const timeoutMs = 15_000;

const patientFetch: FetchLike = skippingBrokenDocuments(
  rewriting(readOAuthDocument, async (url: string | URL, init?: RequestInit) => {
    // Codes, secrets and tokens are posted to addresses that the server names.
    if (init?.method === 'POST') requireSafe(url);
    return fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  }),
);

function createServerAccount({ server, kept, clientId, say, open, signal }: Parts): ServerAccount {
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

  /** Of processes that are refused at once, one renews and the others take what it got. */
  async function renew(refused: string | undefined, asked: Challenge): Promise<void> {
    await kept.locked(name, async () => {
      const account = read();
      if (!account?.tokens) throw new SignInNeeded();
      if (account.tokens.access_token !== refused) return;
      const { resourceMetadataUrl } = asked;
      await auth(accountProvider(account), {
        serverUrl: server,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        fetchFn: patientFetch,
      });
      kept.write(name, account);
    });
  }

  return {
    isNeeded: () => challenge !== undefined,
    secrets: () => [...used],
    needed: () =>
      new TryError(
        exitCodes.usage,
        `${name} wants ${challenge?.error === 'insufficient_scope' ? 'more rights than this account has given' : 'to know who you are'}. Give a token with --token, or run it in a terminal, without --json, to sign in.`,
      ),
    watch: (send) => async (url, init) => {
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
          throw new SignInNeeded(`${name} wants somebody to sign in.`, { cause });
        });
      },
    },
    async signIn() {
      const { resourceMetadataUrl, scope } = challenge ?? {};
      using loopback = await listenOnLoopback('the same command');
      const { redirectUri } = loopback;
      const state = randomBytes(24).toString('base64url');
      const returned = loopback.returned(state);
      // It may never come, and then the reason is another one.
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
        fetchFn: patientFetch,
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

/** Where the command line brings no token of its own. */
export function accountAt(
  target: Target,
  headers: Headers,
  parts: Omit<Parts, 'server'>,
): ServerAccount | undefined {
  const isOpen = target.kind === 'process' || headers.has('authorization');
  return isOpen ? undefined : createServerAccount({ ...parts, server: target.url });
}

/** Whether it goes on after a refusal depends on whether somebody can sign in. Once. */
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
