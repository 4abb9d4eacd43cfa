/** Signs in with the browser of this machine: authorization code, PKCE, and a redirect to a port of our own (RFC 8252). */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as openid from 'openid-client';
import { authorizationParameters, programAt } from './sign-in-server.ts';
import type { SignInService } from './sign-in-server.ts';
import type { SignedIn, Say } from './signed-in.ts';

const timeoutMs = 5 * 60 * 1_000;

export async function signInWithBrowser(
  place: SignInService,
  { say, open = openBrowser }: { say: Say; open?: (url: string) => void },
): Promise<SignedIn> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
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
    const returned = waitForRedirect(server, { redirectUri, state });
    say(`Sign in in your browser. If it does not open by itself, go to:\n${url.href}\n`);
    open(url.href);
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
    const tokens = await openid.authorizationCodeGrant(at, await returned, checks, {
      resource: place.service,
    });
    return { program, tokens };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The address with which the issuer sent the browser back. Requests with another state are no answer to this sign-in. */
function waitForRedirect(
  server: Server,
  { redirectUri, state }: { redirectUri: string; state: string },
): Promise<URL> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('Nobody signed in within five minutes. Start again with: npx interlude login')),
      timeoutMs,
    );
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', redirectUri);
      const isOurs = url.pathname === '/callback' && url.searchParams.get('state') === state;
      const words = !isOurs
        ? 'There is nothing here.'
        : url.searchParams.has('error')
          ? 'You are not signed in. You can close this page.'
          : 'You are signed in. You can close this page and go back to the terminal.';
      response.writeHead(isOurs ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        'referrer-policy': 'no-referrer',
        connection: 'close',
      });
      response.end(`${words}\n`, () => {
        if (!isOurs) return;
        clearTimeout(timer);
        resolve(url);
      });
    });
  });
}

/** Where there is no browser, the address that was printed is for another machine's; that needs --device. */
function openBrowser(url: string): void {
  const [command, ...words] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url];
  const child = spawn(command ?? '', words, { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
}
