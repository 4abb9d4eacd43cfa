/** What a sign-in or a renewal brings, as it is kept; and in words what went wrong with it. */
import * as openid from 'openid-client';
import type { Login } from './kept-logins.ts';
import type { ProgramAt } from './sign-in-server.ts';
import { programCommand } from '../program-command.ts';

export type Say = (text: string) => void;

type Tokens = Awaited<ReturnType<typeof openid.refreshTokenGrant>>;

export interface SignedIn {
  program: ProgramAt;
  tokens: Tokens;
}

export function toLogin(
  { service, issuer }: Pick<Login, 'service' | 'issuer'>,
  { program, tokens }: SignedIn,
): Login {
  const name = tokens.claims()?.['name'];
  return {
    service,
    issuer,
    clientId: program.clientId,
    ...renewedBy(tokens),
    ...(typeof name === 'string' && { name }),
  };
}

export function renewedBy(tokens: Tokens): Pick<Login, 'accessToken' | 'refreshToken' | 'expiresAt'> {
  const seconds = tokens.expiresIn();
  return {
    accessToken: tokens.access_token,
    ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
    ...(seconds !== undefined && { expiresAt: Date.now() + seconds * 1_000 }),
  };
}

/** The code with which an issuer refused something (RFC 6749 §4.1.2.1, §5.2). */
export function refusalCode(error: unknown): string | undefined {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError)
    return error.error;
  // Polling for a device rejects with what its answer was.
  return error instanceof openid.ClientError && error.code === 'OAUTH_TIMEOUT' ? 'expired_token' : undefined;
}

export function explainSignIn(error: unknown, issuer: string): Error {
  const code = refusalCode(error);
  switch (code) {
    case 'access_denied':
      return new Error('The sign-in was denied.', { cause: error });
    case 'expired_token':
      return new Error(`The code has expired. Start again with: ${programCommand()} login --device`, {
        cause: error,
      });
    case undefined:
      return error instanceof openid.ClientError
        ? new Error(`Signing in at ${issuer} failed: ${error.message}.`, { cause: error })
        : error instanceof Error
          ? error
          : new Error(String(error));
    default:
      return new Error(`${issuer} refused the sign-in (${code}).`, { cause: error });
  }
}
