/** A local port that the browser is redirected to after a sign-in (RFC 8252). */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isSafeToOpen } from '@interlude-ai/core/elicitation/url-safety.ts';

const timeoutMs = 5 * 60 * 1_000;

interface Loopback extends Disposable {
  redirectUri: string;
  /** The address that the browser was redirected to. Requests with another state are ignored. */
  returned(state: string): Promise<URL>;
}

/** `again`: the command that starts the sign-in again, for the time-out message. */
export async function listenOnLoopback(again: string): Promise<Loopback> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  return {
    redirectUri,
    returned: (state) => waitForRedirect(server, { redirectUri, state, again }),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function waitForRedirect(
  server: Server,
  { redirectUri, state, again }: { redirectUri: string; state: string; again: string },
): Promise<URL> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`No one signed in within five minutes. Start again with: ${again}`)),
      timeoutMs,
    );
    server.once('close', () => clearTimeout(timer));
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

/** Throws for an address that must not be opened or get a secret, such as the page of a sign-in server. */
export function requireSafe(address: string | URL): void {
  if (isSafeToOpen(address)) return;
  // Without a password in it.
  const shown = String(address).replace(/^([a-z][a-z\d+.-]*:\/*)?[^/?#]*@/i, '$1');
  throw new Error(
    `${shown.length > 200 ? `${shown.slice(0, 199)}…` : shown} has to begin with https://; plain http is for this machine only.`,
  );
}

/**
 * Without a browser here, people open the printed address elsewhere, which needs --device. Throws for an address that
 * the system might open with another program.
 */
export function openBrowser(url: string): void {
  requireSafe(url);
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
