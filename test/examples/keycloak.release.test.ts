/** `examples/keycloak` as its users have it: a real Keycloak, the service, the page, and people in a browser. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test, vi } from 'vitest';
import { findSignIn } from '@interlude-ai/program/login/sign-in-server.ts';
import { signIn, signInWithBrowser, signInWithDevice, signOut } from '@interlude-ai/program/login/sign-in.ts';
import { accessToken } from '@interlude-ai/program/login/find-token.ts';
import { createKeptLogins } from '@interlude-ai/kit/terminal/kept-files.ts';
import { checkLoginClient } from '../../src/cli/doctor/check-secrets.ts';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { spawnBound } from '../../src/platform/development/temporal-server.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { say } from '../e2e/playground-process.ts';
import { lacking } from '../e2e/processes.ts';
import { freePort } from '../free-port.ts';
import { follow } from '../programs/running-program.ts';
import type { RunningProgram } from '../programs/running-program.ts';
import { readGuide } from '../guides/guide.ts';
import { testFolder } from '../test-folder.ts';

const root = path.resolve(import.meta.dirname, '../..');
const source = path.join(root, 'examples/keycloak');
const files = ['realm.json', 'index.html', 'page.js', 'vite.config.ts'];

let home: string;
let keycloak: string;
let service: string;
let origin: string;
let browser: Browser;
let example: RunningProgram;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'interlude-keycloak-'));
  const folder = path.join(home, 'examples/keycloak');
  mkdirSync(folder, { recursive: true });
  for (const name of ['src', 'scripts', 'demo']) symlinkSync(path.join(root, name), path.join(home, name));
  const ports = { 8080: await freePort(), 3000: await freePort(), 5173: await freePort() };
  [keycloak, service, origin] = [ports[8080], ports[3000], ports[5173]].map(
    (port) => `http://127.0.0.1:${port}`,
  ) as [string, string, string];
  for (const name of files) {
    let text = readFileSync(path.join(source, name), 'utf8');
    for (const [port, free] of Object.entries(ports))
      text = text.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${free}`);
    // The demo is known by its path, so the service starts in the checkout itself.
    text = text.replace("fileURLToPath(new URL('../..', import.meta.url))", JSON.stringify(root));
    writeFileSync(path.join(folder, name), text);
  }
  // Of the checkout, which has the same versions. What Vite keeps beside them is the run's own.
  mkdirSync(path.join(folder, 'node_modules'));
  for (const name of ['keycloak-js', 'vite'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name));
  const names = ['DEMO_TRACKER_PORT', 'DEMO_TRAVEL_PORT', 'DEMO_DESK_PORT', 'DEMO_FLIGHTS_PORT'];
  const env: Record<string, string> = { INTERLUDE_DATA: path.join(home, 'data') };
  for (const name of [...names, 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT']) env[name] = String(await freePort());
  example = follow(
    spawnBound(process.execPath, ['node_modules/vite/bin/vite.js'], {
      cwd: folder,
      env: { ...bareEnvironment(), ...env },
    }),
    'the example',
  );
  browser = await launchChromium();
  await Promise.race([
    example.ended.then(({ code }) =>
      Promise.reject(new Error(`It ended with ${code}:\n${example.written.both}`)),
    ),
    vi.waitFor(async () => {
      const names = await lacking(service);
      if (names.length > 0) throw new Error(`${names.join(', ')} missing:\n${example.written.both}`);
    }, 550_000),
  ]);
}, 600_000);
afterAll(async () => {
  await browser?.close();
  // As Ctrl+C does. Its servers end with it: all of them hold its output open.
  const ended = await Promise.race([example?.kill('SIGINT'), sleep(60_000, 'runs', { ref: false })]);
  if (ended === 'runs') throw new Error(`The example does not end:\n${example.written.both.slice(-6_000)}`);
  await rm(home, { recursive: true });
});

async function open(): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ locale: 'en' });
  onTestFinished(() => context.close());
  onTestFailed(() => void process.stderr.write(example.written.both.slice(-6_000)));
  return { context, page: await context.newPage() };
}

/** At Keycloak's own page. */
async function signInAtKeycloak(page: Page, name: string): Promise<void> {
  await page.locator('#username').fill(name);
  await page.locator('#password').fill(name);
  await page.locator('#kc-login').click();
}

async function openPage(
  name: string,
): Promise<{ context: BrowserContext; page: Page; token(): Promise<string> }> {
  const { context, page } = await open();
  await page.goto(origin);
  await signInAtKeycloak(page, name);
  await page.locator('textarea').waitFor();
  const token = () =>
    page.evaluate(() =>
      (document.querySelector('interlude-chat') as unknown as { token(): Promise<string> }).token(),
    );
  return { context, page, token };
}

async function call(
  token: string,
  route: string,
  body?: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(service + route, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** With the name and password of a user, as only Keycloak's own programs may. */
async function tokenOf(realm: string, client: string, user: string): Promise<string> {
  const response = await fetch(`${keycloak}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', client_id: client, username: user, password: user }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

async function administer(method: string, route: string, body?: object): Promise<unknown> {
  const response = await fetch(`${keycloak}/admin/realms/acme${route}`, {
    method,
    headers: {
      authorization: `Bearer ${await tokenOf('master', 'admin-cli', 'admin')}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.ok, `${method} ${route}: ${response.status}`).toBe(true);
  return response.headers.get('content-type')?.includes('json') ? response.json() : undefined;
}

/** A key that signs from now on; the old one is gone. */
async function rotateKey(): Promise<void> {
  const old = (await administer('GET', '/components?type=org.keycloak.keys.KeyProvider')) as {
    id: string;
    providerId: string;
    parentId: string;
  }[];
  const signing = old.find(({ providerId }) => providerId === 'rsa-generated');
  await administer('POST', '/components', {
    name: 'newer',
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    parentId: signing?.parentId,
    config: { priority: ['200'], algorithm: ['RS256'] },
  });
  await administer('DELETE', `/components/${signing?.id}`);
}

test('a question waits through an expired token and a new signing key; another user of the realm is refused', async () => {
  await administer('PUT', '', { accessTokenLifespan: 8 });
  const alice = await openPage('alice');
  await alice.page.getByText('Alice Archer').waitFor();
  const first = await alice.token();
  expect(decodeJwt(first)).toMatchObject({
    aud: expect.arrayContaining(['interlude']),
    azp: 'interlude-app',
    tenant: 'acme',
  });
  await alice.page.evaluate(() => document.querySelector('interlude-chat')?.setAttribute('agent', 'desk'));
  await say(alice.page, 'Delete the page “Old roadmap”.');
  await alice.page.locator('.card').waitFor();
  const listed = await call(await alice.token(), '/run/v1/elicitations');
  const keysFetched = Date.now();
  const [question] = listed.body['items'] as {
    elicitationId: string;
    url: string;
    conversationId: string;
  }[];

  const bob = await openPage('bob');
  const answer = `/run/v1/conversations/${question?.conversationId}/elicitations/${question?.elicitationId}/answer`;
  const refused = await call(await bob.token(), answer, { action: 'accept', content: { confirmed: true } });
  expect([403, 404]).toContain(refused.status);
  const hosted = await bob.context.newPage();
  await hosted.goto(`${service}/auth/connect?e=${question?.elicitationId}`);
  await hosted.getByRole('heading', { name: 'This question is for another person' }).waitFor();

  await expect
    .poll(() => call(first, '/run/v1/conversations'))
    .toMatchObject({ status: 401, body: { detail: 'The token has expired; get a new one.' } });
  const renewals = '**/protocol/openid-connect/token';
  await alice.page.route(renewals, (route) => route.abort());
  await expect(alice.token()).rejects.toThrow('Failed to fetch');
  await alice.page.unroute(renewals);
  // Keys are fetched again at most every 30 seconds.
  await sleep(keysFetched + 31_000 - Date.now());
  await rotateKey();
  const newer = await alice.token();
  expect(decodeProtectedHeader(newer).kid).not.toBe(decodeProtectedHeader(first).kid);
  expect(await call(newer, '/run/v1/conversations')).toMatchObject({ status: 200 });
  await alice.page.locator('.card').getByLabel('Yes, delete it').check();
  await alice.page.locator('.card').getByRole('button', { name: 'Send' }).click();
  await alice.page.locator('.markdown', { hasText: 'The page "Old roadmap" is deleted.' }).waitFor();
  await administer('PUT', '', { accessTokenLifespan: 300 });
});

test('the operator role of the realm opens the pages of operators, and no other role does', async () => {
  const bob = await open();
  await bob.page.goto(`${service}/operators`);
  await bob.page.getByRole('link', { name: 'Sign in' }).or(bob.page.locator('#username')).first().waitFor();
  if (!(await bob.page.locator('#username').isVisible()))
    await bob.page.getByRole('link', { name: 'Sign in' }).click();
  await signInAtKeycloak(bob.page, 'bob');
  await bob.page.getByRole('heading', { name: 'Turns' }).waitFor();
  const [alice, other] = [await openPage('alice'), await openPage('bob')];
  expect((await call(await alice.token(), '/run/v1/operators/turns')).status).toBe(403);
  expect((await call(await other.token(), '/run/v1/operators/turns')).status).toBe(200);
});

test('tokens for another audience and of another realm are refused, with the reason', async () => {
  await administer('POST', '/clients', {
    clientId: 'other',
    publicClient: true,
    directAccessGrantsEnabled: true,
  });
  expect(await call(await tokenOf('acme', 'other', 'alice'), '/run/v1/conversations')).toMatchObject({
    status: 401,
    body: { detail: expect.stringContaining('The token is for another audience') },
  });
  expect(await call(await tokenOf('master', 'admin-cli', 'admin'), '/run/v1/conversations')).toMatchObject({
    status: 401,
    body: { detail: `The token was not issued by ${keycloak}/realms/acme.` },
  });
});

test('signing out at the page ends the session at Keycloak', async () => {
  const { page } = await openPage('alice');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('#username').waitFor();
  await page.goto(origin);
  await page.locator('#username').waitFor();
});

test('the program signs in with a browser and with a code, renews its token and signs out', async () => {
  const logins = createKeptLogins(testFolder());
  const { page } = await open();
  const place = await findSignIn(service);
  const opened = Promise.withResolvers<string>();
  const [byBrowser] = await Promise.all([
    signInWithBrowser(place, { say: () => undefined, open: opened.resolve }),
    opened.promise.then((url) => page.goto(url)).then(() => signInAtKeycloak(page, 'alice')),
  ]);
  expect(byBrowser.tokens.claims()).toMatchObject({ name: 'Alice Archer' });

  const shown = Promise.withResolvers<string>();
  const [login] = await Promise.all([
    signIn(service, logins, (at) =>
      signInWithDevice(at, {
        say: (text) => shown.resolve(/http\S+user_code=\S+/.exec(text)?.[0] ?? text),
      }),
    ),
    shown.promise.then(async (url) => {
      await page.goto(url);
      // The session of the first sign-in is the program's alone: it is an offline one.
      await signInAtKeycloak(page, 'alice');
      await page.getByRole('button', { name: 'Yes' }).click();
    }),
  ]);
  expect(login).toMatchObject({ name: 'Alice Archer', clientId: 'interlude-app' });
  const renewed = await accessToken(logins, { service, refused: login.accessToken });
  expect(renewed).not.toBe(login.accessToken);
  expect((await call(renewed ?? '', '/run/v1/conversations')).status).toBe(200);
  expect(await signOut(logins, service)).toEqual({ kind: 'signed-out', isRevoked: true });
});

test('the guide shows the files of the example', () => {
  for (const name of ['realm.json', 'index.html', 'page.js']) {
    const text = readFileSync(path.join(source, name), 'utf8');
    expect(readGuide('sign-in')).toContainEqual(expect.objectContaining({ kind: 'file', name, text }));
  }
});

test('the doctor knows whether its client secret is right', async () => {
  const check = async (secret: string) => {
    const env = {
      AUTH_ISSUER: `${keycloak}/realms/acme`,
      AUTH_CLIENT_ID: 'interlude',
      AUTH_CLIENT_SECRET: secret,
    };
    const { auth } = loadConfig(env, root);
    return auth && (await checkLoginClient(auth, service));
  };
  expect(await check('change-me')).toEqual({ level: 'ok', text: 'it accepts our client' });
  expect(await check('old')).toMatchObject({ code: 'issuer-client' });
});
