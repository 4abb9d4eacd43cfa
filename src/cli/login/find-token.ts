/** The token that a command brings to a service: one that was given, that of a kept login, or a demo user's. */
import { demoProgramClient, demoToken } from '../../development/demo-token.ts';
import type { KeptLogins } from './kept-logins.ts';
import { accessToken } from './renew.ts';
import { findSignIn } from './sign-in-server.ts';
import { programCommand } from '../program-command.ts';

export interface Given {
  service: string;
  token: string | undefined;
  /** A user of the demo. */
  as: string | undefined;
}

export interface TokenSource {
  /** Whose it is, for people. */
  who: string;
  /** A token that is good now. `refused` is one that the service did not take. */
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
    `You are not signed in to ${service}. Sign in: ${programCommand()} login --service ${service}`,
  );
}
