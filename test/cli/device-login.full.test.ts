/** Signing in with a code: apart, because issuers let programs ask every five seconds only. */
import { hostname } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { demoProgramClient } from '@interlude-ai/program/login/demo-token.ts';
import { findSignIn } from '@interlude-ai/program/login/sign-in-server.ts';
import { explainSignIn, signInWithDevice } from '@interlude-ai/program/login/sign-in.ts';
import { startApi } from '../api/api-under-test.ts';
import { Browser } from '../api/pages/browser.ts';
import type { Shown } from '../api/pages/browser.ts';
import { freePort } from '../free-port.ts';

async function startPlace() {
  const port = await freePort();
  const service = `http://127.0.0.1:${port}`;
  const api = await startApi({ env: { PUBLIC_URL: service, AUTH_PROGRAM_CLIENT_ID: demoProgramClient } });
  await api.app.listen({ port, host: '127.0.0.1' });
  return { place: await findSignIn(service), service, stop: () => api.stop() };
}

test('a code in the browser of another machine', async () => {
  const { place, service, stop } = await startPlace();
  onTestFinished(stop);
  const said: string[] = [];
  const { tokens } = await signInWithDevice(place, {
    say(text) {
      said.push(text);
      const [url = ''] = /http\S+user_code=\S+/.exec(text) ?? [];
      void enterCode(url);
    },
  });
  expect(said.join('')).toMatch(/enter the code [A-Z]{4}-[A-Z]{4}/);
  expect(tokens.claims()).toMatchObject({ sub: 'alice' });
  const answer = await fetch(`${service}/run/v1/conversations`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  expect(answer.status).toBe(200);
});

test('the page names program and machine, and denying it is told as such', async () => {
  const { place, stop } = await startPlace();
  onTestFinished(stop);
  let shown = '';
  const refused = await signInWithDevice(place, {
    say(text) {
      const [url = ''] = /http\S+user_code=\S+/.exec(text) ?? [];
      void confirmPage(new Browser(), url).then(async ({ page, submit }) => {
        shown = page.text;
        await submit(page, { abort: 'yes' });
      });
    },
  }).catch((error: unknown) => explainSignIn(error, place.issuer));
  expect(shown).toContain(`interlude on ${hostname()}, at `);
  expect(refused).toMatchObject({ message: 'The sign-in was denied.' });
});

async function confirmPage(browser: Browser, url: string) {
  const { origin } = new URL(url);
  const submit = (page: Shown, pressed: Record<string, string> = {}) => {
    const fields = page.text.matchAll(/<input[^>]* name="([^"]+)" value="([^"]+)"/g);
    const given = [...fields].map(([, name = '', value = '']) => [name, value]);
    return browser.post(`${origin}/device`, { ...Object.fromEntries(given), ...pressed }, origin);
  };
  return { page: await submit(await browser.open(url)), submit };
}

async function enterCode(url: string): Promise<void> {
  const browser = new Browser();
  const { page, submit } = await confirmPage(browser, url);
  await browser.press(await submit(page), { user: 'alice' });
}
