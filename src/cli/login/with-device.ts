/** Signs in with a browser of any machine, where a short code is entered (RFC 8628). */
import { hostname } from 'node:os';
import * as openid from 'openid-client';
import { plainLine } from '../../elicitation/plain-text.ts';
import { requireSafe } from './loopback.ts';
import { authorizationParameters, programAt, readableFetch } from './sign-in-server.ts';
import type { SignInService } from './sign-in-server.ts';
import type { SignedIn, Say } from './signed-in.ts';

export async function signInWithDevice(place: SignInService, { say }: { say: Say }): Promise<SignedIn> {
  const program = await programAt(place);
  const { at } = program;
  if (at.serverMetadata().device_authorization_endpoint === undefined)
    throw new Error(`${place.issuer} offers no sign-in with a code. Leave out --device.`);
  at[openid.customFetch] = sayWho;
  const device = await openid.initiateDeviceAuthorization(at, authorizationParameters(place, program));
  const { verification_uri: page, verification_uri_complete: pageWithCode } = device;
  const whole = pageWithCode === undefined ? '' : `or open ${shown(pageWithCode)}\n`;
  say(`Open ${shown(page)} in any browser and enter the code ${plainLine(device.user_code)}\n${whole}`);
  const tokens = await openid.pollDeviceAuthorizationGrant(at, device, { resource: place.service });
  return { program, tokens };
}

function shown(page: string): string {
  requireSafe(page);
  return new URL(page).href;
}

/** The page on which the code is entered says which program on which machine asks. */
function sayWho(url: string, options: openid.CustomFetchOptions): Promise<Response> {
  const headers = { ...options.headers, 'user-agent': `interlude on ${hostname()}` };
  return readableFetch(url, { ...options, headers });
}
