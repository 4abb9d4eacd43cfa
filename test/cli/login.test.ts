/** Signing in on the command line, at a real service and the issuer that it names. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { demoProgramClient } from '@interlude-ai/program/login/demo-token.ts';
import {
  signInWithBrowser,
  signInWithDevice,
  explainSignIn,
  toLogin,
} from '@interlude-ai/program/login/sign-in.ts';
import { openBrowser } from '@interlude-ai/kit/terminal/loopback.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { accessToken } from '@interlude-ai/program/login/find-token.ts';
import { findSignIn, serviceAddress } from '@interlude-ai/program/login/sign-in-server.ts';
import { startApi } from '../api/api-under-test.ts';
import type { ApiUnderTest } from '../api/api-under-test.ts';
import { Browser } from '../api/pages/browser.ts';
import { freePort } from '../free-port.ts';
import { startCommand } from './start-command.ts';

let api: ApiUnderTest;
let service: string;
let home: string;

beforeAll(async () => {
  const port = await freePort();
  service = `http://127.0.0.1:${port}`;
  api = await startApi({ env: { PUBLIC_URL: service, AUTH_PROGRAM_CLIENT_ID: demoProgramClient } });
  await api.app.listen({ port, host: '127.0.0.1' });
  home = mkdtempSync(path.join(tmpdir(), 'interlude-login-'));
});

afterAll(async () => {
  await api.stop();
  rmSync(home, { recursive: true });
});

const env = () => ({ XDG_CONFIG_HOME: home });
const kept = () => createKeptLogins(loginsFolder(env()));

/** Presses the button of the demo's sign-in page, wherever it was opened. */
async function signInAs(user: string, url: string): Promise<string> {
  const browser = new Browser();
  const page = await browser.open(url);
  return (await browser.press(page, { user })).text;
}

async function logIn(): Promise<void> {
  const place = await findSignIn(service);
  let shown: Promise<string> | undefined;
  const open = (url: string) => {
    shown = signInAs('alice', url);
  };
  const signedIn = await signInWithBrowser(place, { say: () => undefined, open });
  expect(await shown).toContain('You are signed in');
  kept().write(toLogin(place, signedIn));
}

test('a browser of this machine, and the program acts as who signed in there', async () => {
  await logIn();
  const login = kept().read(service);
  expect(login).toMatchObject({ service, clientId: demoProgramClient, name: 'Alice' });
  const folder = loginsFolder(env());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
  const token = await accessToken(kept(), { service });
  const answer = await fetch(`${service}/run/v1/conversations`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
});

test('another page that knows the port does not end the sign-in', async () => {
  const place = await findSignIn(service);
  let stranger: number | undefined;
  const open = (url: string) => {
    const redirect = new URL(url).searchParams.get('redirect_uri');
    void fetch(`${redirect}?error=access_denied&state=guessed`).then(({ status }) => {
      stranger = status;
      return signInAs('bob', url);
    });
  };
  const { tokens } = await signInWithBrowser(place, { say: () => undefined, open });
  expect(stranger).toBe(404);
  expect(tokens.claims()).toMatchObject({ sub: 'bob' });
});

test('the page says which program asks, each time, and denying it ends the sign-in', async () => {
  const place = await findSignIn(service);
  const browser = new Browser();
  const shown: string[] = [];
  const signIn = (button: Record<string, string>) => {
    const open = async (url: string) => {
      const page = await browser.open(url);
      shown.push(page.text);
      await browser.press(page, button);
    };
    return signInWithBrowser(place, { say: () => undefined, open: (url) => void open(url) });
  };
  await signIn({ user: 'alice' });
  const refused = await signIn({ deny: 'yes' }).catch((error: unknown) => explainSignIn(error, place.issuer));
  expect(refused).toMatchObject({ message: 'The sign-in was denied.' });
  expect(shown).toHaveLength(2);
  for (const text of shown)
    expect(text).toMatch(/The program interlude on this computer, at 127\.0\.0\.1:\d+,.*Deny/s);
});

test('of processes that find it run out at once, one renews it and all go on', async () => {
  await logIn();
  const login = kept().read(service);
  if (!login) throw new Error('nobody is signed in');
  kept().write({ ...login, expiresAt: Date.now() });
  const tokens = await Promise.all(Array.from({ length: 4 }, () => accessToken(kept(), { service })));
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]).not.toBe(login.accessToken);
  expect(kept().read(service)?.refreshToken).not.toBe(login.refreshToken);
  // A token that the service refuses is replaced, though it has not run out.
  const next = await accessToken(kept(), { service, refused: tokens[0] ?? undefined });
  expect(next).not.toBe(tokens[0]);
});

test('an end that the issuer decided is told with the remedy, and the login is forgotten', async () => {
  await logIn();
  const login = kept().read(service);
  if (!login) throw new Error('nobody is signed in');
  kept().write({ ...login, refreshToken: 'used-up', expiresAt: Date.now() });
  await expect(accessToken(kept(), { service })).rejects.toThrow(
    `Sign in again: npx interlude login --service ${service}`,
  );
  expect(kept().read(service)).toBeNull();
});

test('logging out ends it at the issuer, too', async () => {
  await logIn();
  const login = kept().read(service);
  if (!login) throw new Error('nobody is signed in');
  const out = await startCommand(['logout', '--service', service], env());
  expect(out).toMatchObject({ code: 0, output: `Signed out of ${service}.\n` });
  expect(kept().read(service)).toBeNull();
  kept().write({ ...login, expiresAt: Date.now() });
  await expect(accessToken(kept(), { service })).rejects.toThrow('has ended');
});

test.each(['vscode://localhost/x', 'ms-msdt://127.0.0.1/x', 'http://evil.example/'])(
  'a sign-in page at %s is neither opened nor shown',
  async (page) => {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    const hostile = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const answers: Record<string, object> = {
      '/.well-known/oauth-protected-resource': {
        resource: hostile,
        authorization_servers: [hostile],
        interlude_client_id: 'program',
      },
      '/.well-known/openid-configuration': {
        issuer: hostile,
        authorization_endpoint: page,
        token_endpoint: `${hostile}/token`,
        device_authorization_endpoint: `${hostile}/device`,
      },
      '/device': { device_code: 'd', user_code: 'ABCD', verification_uri: page, expires_in: 60, interval: 1 },
    };
    http.on('request', ({ url = '' }, response) => {
      response.writeHead(answers[url] ? 200 : 404, {
        'content-type': 'application/json',
        connection: 'close',
      });
      response.end(JSON.stringify(answers[url] ?? {}));
    });
    const place = await findSignIn(hostile);
    const seen: string[] = [];
    const see = (text: string) => void seen.push(text);
    const refused = 'has to begin with https://';
    // Of another scheme, it is no address to the reader of metadata.
    await expect(signInWithBrowser(place, { say: see, open: see })).rejects.toThrow(
      page.startsWith('http') ? refused : 'authorization_endpoint',
    );
    await expect(signInWithDevice(place, { say: see })).rejects.toThrow(refused);
    expect(() => openBrowser(page)).toThrow(refused);
    expect(seen).toEqual([]);
  },
);

test('the command prints where to go, and keeps the login', async () => {
  const bin = path.join(home, 'bin');
  const command = startCommand(['login', '--service', service], { ...env(), PATH: bin }, (errors) => {
    const [, url] = /(http\S+)\n/.exec(errors) ?? [];
    if (url !== undefined) void signInAs('bob', url);
    return url !== undefined;
  });
  expect(await command).toMatchObject({ code: 0, output: `Signed in to ${service} as Bob.\n` });
  expect(kept().read(service)).toMatchObject({ name: 'Bob' });
  expect(existsSync(bin)).toBe(false);
});

test('a service that calls itself something else is given nothing, nor one that is asked in the clear', async () => {
  const { port } = new URL(service);
  await expect(findSignIn(`http://localhost:${port}`)).rejects.toThrow(`calls itself ${service}`);
  expect(() => serviceAddress('http://agents.example')).toThrow('https://');
  expect(() => serviceAddress('http://alice:secret@agents.example/a')).toThrow(
    'http://agents.example/a has to begin with https://',
  );
});
