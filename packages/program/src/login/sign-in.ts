/** Signs in to a service and keeps the login; signs out again. */
import { hostname } from 'node:os';
import * as openid from 'openid-client';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import type { KeptLogins, Login } from '@interlude-ai/kit/terminal/kept-files.ts';
import { listenOnLoopback, openBrowser, requireSafe } from '@interlude-ai/kit/terminal/loopback.ts';
import { authorizationParameters, findSignIn, programAt } from './sign-in-server.ts';
import type { ProgramAt, SignInService } from './sign-in-server.ts';
import { readableFetch } from '@interlude-ai/core/oauth/documents.ts';

/** `sign`: in a browser of this machine or of another one. */
export async function signIn(
  service: string,
  logins: KeptLogins,
  sign: (place: SignInService) => Promise<SignedIn>,
): Promise<Login> {
  const place = await findSignIn(service);
  const signedIn = await sign(place).catch((error: unknown) => {
    throw explainSignIn(error, place.issuer);
  });
  const login = toLogin(place, signedIn);
  await requireAccepted(place, login.accessToken);
  await logins.locked(service, async () => logins.write(login));
  return login;
}

/** Fails here instead of in the first command when the issuer's tokens are for something else. */
async function requireAccepted({ service, issuer }: SignInService, token: string): Promise<void> {
  const response = await fetch(`${service}/run/v1/conversations?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status !== 401) {
    await response.body?.cancel();
    return;
  }
  const { detail } = (await response.json()) as { detail?: string };
  throw new Error(
    `${service} does not take the token that ${issuer} gave: ${detail ?? 'it was refused'} The operator can say how in AUTH_AUDIENCE and AUTH_PROGRAM_SCOPE.`,
  );
}

/** Authorization code with PKCE, and a redirect to a local port (RFC 8252). */
export async function signInWithBrowser(
  place: SignInService,
  { say, open = openBrowser }: { say: Say; open?: (url: string) => void },
): Promise<SignedIn> {
  using loopback = await listenOnLoopback(ourCommand('login'));
  const { redirectUri } = loopback;
  const program = await programAt(place, redirectUri);
  const { at } = program;
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const codeVerifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(at, {
    ...authorizationParameters(place, program),
    redirect_uri: redirectUri,
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
  requireSafe(url);
  const returned = loopback.returned(state);
  say(`Sign in in your browser. If it does not open by itself, go to:\n${url.href}\n`);
  open(url.href);
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
  const tokens = await openid.authorizationCodeGrant(at, await returned, checks, {
    resource: place.service,
  });
  return { program, tokens };
}

/** A short code, entered in a browser of any machine (RFC 8628). */
export async function signInWithDevice(place: SignInService, { say }: { say: Say }): Promise<SignedIn> {
  const program = await programAt(place);
  const { at } = program;
  if (at.serverMetadata().device_authorization_endpoint === undefined)
    throw new Error(`${place.issuer} offers no sign-in with a code. Leave out --device.`);
  at[openid.customFetch] = fetchWithHostName;
  // Some servers require PKCE of a client in every flow (Keycloak); others ignore it here.
  const codeVerifier = openid.randomPKCECodeVerifier();
  const device = await openid.initiateDeviceAuthorization(at, {
    ...authorizationParameters(place, program),
    code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
  const { verification_uri: page, verification_uri_complete: pageWithCode } = device;
  const whole = pageWithCode === undefined ? '' : `or open ${shown(pageWithCode)}\n`;
  say(`Open ${shown(page)} in any browser and enter the code ${plainLine(device.user_code)}\n${whole}`);
  const tokens = await openid.pollDeviceAuthorizationGrant(at, device, {
    resource: place.service,
    code_verifier: codeVerifier,
  });
  return { program, tokens };
}

function shown(page: string): string {
  requireSafe(page);
  return new URL(page).href;
}

/** The page for the code shows which program on which machine asks. */
function fetchWithHostName(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const headers = { ...options.headers, 'user-agent': `interlude on ${hostname()}` };
  return readableFetch(url, { ...options, headers });
}

/** Shows people where to go. */
export type Say = (text: string) => void;

type Tokens = Awaited<ReturnType<typeof openid.refreshTokenGrant>>;

interface SignedIn {
  program: ProgramAt;
  tokens: Tokens;
}

export function toLogin(
  { service, issuer }: { service: string; issuer: string },
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

/** The error code of an issuer's refusal (RFC 6749 §4.1.2.1, §5.2). */
export function refusalCode(error: unknown): string | undefined {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError)
    return error.error;
  // Polling for a device rejects with the time-out.
  return error instanceof openid.ClientError && error.code === 'OAUTH_TIMEOUT' ? 'expired_token' : undefined;
}

export function explainSignIn(error: unknown, issuer: string): Error {
  const code = refusalCode(error);
  switch (code) {
    case 'access_denied':
      return new Error('The sign-in was denied.', { cause: error });
    case 'expired_token':
      return new Error(`The code has expired. Start again with: ${ourCommand('login --device')}`, {
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

type SignedOut =
  | { kind: 'was-not-signed-in' }
  /** `isRevoked`: the issuer has revoked it. */
  | { kind: 'signed-out'; isRevoked: boolean };

export async function signOut(logins: KeptLogins, service: string): Promise<SignedOut> {
  return logins.locked(service, async () => {
    const kept = logins.read(service);
    logins.remove(service);
    return kept ? { kind: 'signed-out', isRevoked: await revoke(kept) } : { kind: 'was-not-signed-in' };
  });
}

/** False if the issuer has no revocation, or it fails. */
async function revoke({ service, issuer, clientId, refreshToken, accessToken }: Login): Promise<boolean> {
  try {
    const { at } = await programAt({ service, issuer, clientId, scope: undefined });
    if (at.serverMetadata().revocation_endpoint === undefined) return false;
    await openid.tokenRevocation(at, refreshToken ?? accessToken);
    return true;
  } catch {
    return false;
  }
}
