/**
 * A page with one button that uses Nango's own browser library, as it ships. For the double's tests: what the library
 * makes of what the double does.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { serve } from '../serve.ts';
import type { Exchange } from '../serve.ts';

const library = path.resolve(import.meta.dirname, '../../../node_modules/@nangohq/frontend/dist');

export interface FrontendPage {
  /** The page for this token. `connects` is the policy's connect-src. */
  url(options: {
    host: string;
    token: string;
    integration?: string;
    detectsClosing?: boolean;
    connects?: string;
  }): string;
}

/** Stops with the test. The page's `output` shows the result: `connected <id>`, or the error's type. */
export async function startFrontendPage(): Promise<FrontendPage> {
  const { origin, stop } = await serve(answer);
  onTestFinished(stop);
  return {
    url: ({
      host,
      token,
      integration = 'tracker',
      detectsClosing = false,
      connects = `ws://${new URL(host).host}`,
    }) =>
      `${origin}/?${new URLSearchParams({
        host,
        token,
        integration,
        connects,
        ...(detectsClosing && { detectsClosing: 'yes' }),
      })}`,
  };
}

async function answer({ response, url }: Exchange): Promise<void> {
  if (url.pathname.startsWith('/sdk/')) {
    const file = await readFile(path.join(library, path.basename(url.pathname)));
    return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(file);
  }
  if (url.pathname === '/page.js')
    return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  const policy = `default-src 'none'; script-src 'self'; connect-src ${url.searchParams.get('connects')}`;
  response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy });
  response.end(
    '<!doctype html><title>Page</title><button>Connect</button><output></output><script type="module" src="/page.js"></script>',
  );
}

const script = `
import Nango from '/sdk/index.js';
const asked = new URLSearchParams(location.search);
const nango = new Nango({ host: asked.get('host'), connectSessionToken: asked.get('token') });
const output = document.querySelector('output');
document.querySelector('button').addEventListener('click', () => {
  const begun = performance.now();
  nango.auth(asked.get('integration'), { detectClosedAuthWindow: asked.has('detectsClosing') }).then(
    ({ connectionId }) => {
      output.dataset.took = String(Math.round(performance.now() - begun));
      output.textContent = 'connected ' + connectionId;
    },
    (error) => { output.textContent = error.type; },
  );
});
document.documentElement.dataset.ready = 'yes';
`;
