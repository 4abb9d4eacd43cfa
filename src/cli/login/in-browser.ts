/** Signs in with the browser of this machine: authorization code, PKCE, and a redirect to a port of our own (RFC 8252). */
import * as openid from 'openid-client';
import { listenOnLoopback, openBrowser, requireSafe } from './loopback.ts';
import { authorizationParameters, programAt } from './sign-in-server.ts';
import type { SignInService } from './sign-in-server.ts';
import type { SignedIn, Say } from './signed-in.ts';
import { programCommand } from '../program-command.ts';

export async function signInWithBrowser(
  place: SignInService,
  { say, open = openBrowser }: { say: Say; open?: (url: string) => void },
): Promise<SignedIn> {
  using loopback = await listenOnLoopback(`${programCommand()} login`);
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
