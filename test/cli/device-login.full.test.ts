/** Signing in with a code: apart, because issuers let programs ask every five seconds only. */
import { expect, onTestFinished, test } from 'vitest';
import { demoProgramClient } from '../../src/development/demo-token.ts';
import { findSignIn } from '../../src/cli/login/sign-in-server.ts';
import { signInWithDevice } from '../../src/cli/login/with-device.ts';
import { startApi } from '../api/api-under-test.ts';
import { Browser } from '../api/pages/browser.ts';
import type { Shown } from '../api/pages/browser.ts';
import { freePort } from '../free-port.ts';

test('a code in the browser of another machine', async () => {
  const port = await freePort();
  const service = `http://127.0.0.1:${port}`;
  const api = await startApi({ env: { PUBLIC_URL: service, AUTH_PROGRAM_CLIENT_ID: demoProgramClient } });
  onTestFinished(() => api.stop());
  await api.app.listen({ port, host: '127.0.0.1' });
  const place = await findSignIn(service);
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
}, 20_000);

async function enterCode(url: string): Promise<void> {
  const browser = new Browser();
  const submit = (page: Shown) => {
    const fields = page.text.matchAll(/name="([^"]+)" value="([^"]+)"/g);
    const { origin } = new URL(url);
    const given = [...fields].map(([, name = '', value = '']) => [name, value]);
    return browser.post(`${origin}/device`, Object.fromEntries(given), origin);
  };
  const confirm = await submit(await browser.open(url));
  const signIn = await submit(confirm);
  await browser.press(signIn, { user: 'alice' });
}
