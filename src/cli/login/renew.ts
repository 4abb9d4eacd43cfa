/** The access token of a kept login, renewed when it has run out. */
import * as openid from 'openid-client';
import type { KeptLogins, Login } from './kept-logins.ts';
import { programAt } from './sign-in-server.ts';
import { refusalCode, renewedBy } from './signed-in.ts';
import { programCommand } from '../program-command.ts';

/** Long enough for a request to arrive with it. */
const earlyMs = 30_000;

export interface Asked {
  service: string;
  /** A token that the service has refused, whatever it says of its end. */
  refused?: string | undefined;
}

/** Null when there is no login. Of processes that ask at once, one renews it and the others take what it got. */
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
    `Your login at ${service} has ended. Sign in again: ${programCommand()} login --service ${service}`,
    {
      cause,
    },
  );
}
