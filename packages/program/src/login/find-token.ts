/** The token that a command sends to a service: a given one, that of the kept login (renewed when needed), or a demo user's. */
import * as openid from 'openid-client';
import { demoProgramClient, demoToken } from './demo-token.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import type { KeptLogins, Login } from '@interlude-ai/kit/terminal/kept-files.ts';
import { findSignIn, programAt } from './sign-in-server.ts';
import { refusalCode, renewedBy } from './sign-in.ts';

interface Given {
  service: string;
  token: string | undefined;
  /** A user of the demo. */
  as: string | undefined;
}

export interface TokenSource {
  /** The user's name, for people. */
  who: string;
  /** A valid token. `refused` is one that the service did not accept. */
  token(refused?: string): Promise<string>;
}

export async function findToken(logins: KeptLogins, { service, token, as }: Given): Promise<TokenSource> {
  if (token !== undefined) return { who: 'you', token: async () => token };
  const kept = as === undefined ? logins.read(service) : null;
  if (kept) return { who: kept.name ?? 'you', token: (refused) => tokenOfLogin(logins, service, refused) };
  const { issuer, clientId } = await findSignIn(service);
  if (clientId !== demoProgramClient) throw notSignedIn(service);
  const user = as ?? 'alice';
  return { who: user, token: () => demoToken(issuer, user) };
}

async function tokenOfLogin(logins: KeptLogins, service: string, refused?: string): Promise<string> {
  const token = await accessToken(logins, { service, refused });
  if (token === null) throw notSignedIn(service);
  return token;
}

function notSignedIn(service: string): Error {
  return new Error(
    `You are not signed in to ${service}. Sign in: ${ourCommand(`login --service ${service}`)}`,
  );
}

/** Enough time for a request to arrive. */
const earlyMs = 30_000;

interface Asked {
  service: string;
  /** A token that the service has refused, even if it has not expired. */
  refused?: string | undefined;
}

/** Null without a login. Of processes that renew at once, one does it and the others use its result. */
export async function accessToken(logins: KeptLogins, asked: Asked): Promise<string | null> {
  const { service } = asked;
  const kept = logins.read(service);
  if (!kept) return null;
  if (isGood(kept, asked)) return kept.accessToken;
  return logins.locked(service, async () => {
    const newest = logins.read(service);
    if (!newest) return null;
    if (isGood(newest, asked)) return newest.accessToken;
    const renewed = await renew(logins, newest);
    logins.write(renewed);
    return renewed.accessToken;
  });
}

function isGood({ accessToken: token, expiresAt = Infinity }: Login, { refused }: Asked): boolean {
  return token !== refused && expiresAt - earlyMs > Date.now();
}

async function renew(logins: KeptLogins, login: Login): Promise<Login> {
  const { service, issuer, clientId, refreshToken } = login;
  if (refreshToken === undefined) throw hasEnded(service);
  const { at } = await programAt({ service, issuer, clientId, scope: undefined }).catch((cause: unknown) => {
    throw new Error(`${issuer} cannot be reached, to renew your login.`, { cause });
  });
  try {
    const tokens = await openid.refreshTokenGrant(at, refreshToken, { resource: service });
    return { ...login, ...renewedBy(tokens) };
  } catch (error) {
    const code = refusalCode(error);
    if (code === undefined)
      throw new Error(`${issuer} did not renew your login; try again.`, { cause: error });
    logins.remove(service);
    throw hasEnded(service, error);
  }
}

function hasEnded(service: string, cause?: unknown): Error {
  return new Error(
    `Your login at ${service} has ended. Sign in again: ${ourCommand(`login --service ${service}`)}`,
    {
      cause,
    },
  );
}
