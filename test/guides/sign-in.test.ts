/** The parts of the guide about Auth0, against a double that behaves as Auth0's documentation says, and about tokens of a backend. */
import { createHash, randomUUID } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { parseEnv } from 'node:util';
import vm from 'node:vm';
import { EncryptJWT, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../demo/listen.ts';
import { startApi } from '../api/api-under-test.ts';
import { Browser, words } from '../api/pages/browser.ts';
import { freePort } from '../free-port.ts';
import { startProgram } from '../programs/running-program.ts';
import { testFolder } from '../test-folder.ts';
import { readGuide } from './guide.ts';

const root = path.resolve(import.meta.dirname, '../..');
const blocks = readGuide('sign-in');

/** A file that the guide shows. */
function shown(name: string): string {
  const file = blocks.find((block) => block.kind === 'file' && block.name === name);
  if (file?.kind !== 'file') throw new Error(`The guide shows no ${name}.`);
  return file.text;
}

type Action = (event: object, api: object) => Promise<void>;

/** As Auth0's: an opaque token without `audience`, a list of audiences with it, claims only from the guide's Action. */
async function startAuth0() {
  const keys = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, URLSearchParams>();
  const user = { sub: 'auth0|6650a1', name: 'Alice Archer', tenant: 'acme', roles: ['interlude-operator'] };
  const exported: { onExecutePostLogin?: Action } = {};
  vm.runInNewContext(shown('post-login.js'), { exports: exported });

  const server = createServer((request, response) => {
    void answer(new URL(request.url ?? '', issuer), request).then(({ status = 200, location, body }) => {
      response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
      response.end(JSON.stringify(body));
    });
  });
  const { port, stop } = await listen(server, 0, 'PORT');
  onTestFinished(stop);
  const issuer = `http://127.0.0.1:${port}/`;
  return { issuer, tokensFor };

  type Answer = { status?: number; location?: string; body?: object };

  async function answer(url: URL, request: AsyncIterable<Buffer>): Promise<Answer> {
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return {
          body: {
            issuer,
            authorization_endpoint: `${issuer}authorize`,
            token_endpoint: `${issuer}oauth/token`,
            userinfo_endpoint: `${issuer}userinfo`,
            jwks_uri: `${issuer}.well-known/jwks.json`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['HS256', 'RS256'],
            token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
          },
        };
      case '/.well-known/jwks.json':
        return { body: { keys: [jwk] } };
      case '/authorize': {
        const code = randomUUID();
        codes.set(code, url.searchParams);
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        back.search = String(new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' }));
        return { status: 302, location: back.href };
      }
      case '/oauth/token': {
        const given = new URLSearchParams((await Array.fromAsync(request)).join(''));
        const asked = codes.get(given.get('code') ?? '');
        const challenge = createHash('sha256')
          .update(given.get('code_verifier') ?? '')
          .digest('base64url');
        if (asked?.get('code_challenge') !== challenge)
          return { status: 403, body: { error: 'invalid_grant' } };
        return { body: await tokensFor(Object.fromEntries(asked)) };
      }
      case '/userinfo':
        return { body: { sub: user.sub, name: user.name } };
      default:
        return { status: 404, body: {} };
    }
  }

  async function tokensFor(asked: Record<string, string>) {
    const custom: Record<'idToken' | 'accessToken', Record<string, unknown>> = {
      idToken: {},
      accessToken: {},
    };
    const setter = (claims: Record<string, unknown>) => ({
      setCustomClaim: (name: string, value: unknown) => void (claims[name] = value),
    });
    await exported.onExecutePostLogin?.(
      { user: { app_metadata: { tenant: user.tenant } }, authorization: { roles: user.roles } },
      { idToken: setter(custom.idToken), accessToken: setter(custom.accessToken) },
    );
    const { client_id: client = '', audience, nonce } = asked;
    const sign = (claims: object) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'one' })
        .setIssuer(issuer)
        .setSubject(user.sub)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(keys.privateKey);
    const opaque = () =>
      new EncryptJWT({}).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(new Uint8Array(32));
    const access = { ...custom.accessToken, azp: client, scope: 'openid profile' };
    return {
      token_type: 'Bearer',
      expires_in: 3_600,
      id_token: await sign({ ...custom.idToken, name: user.name, aud: client, ...(nonce && { nonce }) }),
      access_token:
        audience === undefined
          ? await opaque()
          : await sign({ ...access, aud: [audience, `${issuer}userinfo`] }),
    };
  }
}

async function startService(env: Record<string, string>) {
  const port = await freePort();
  const service = `http://127.0.0.1:${port}`;
  const api = await startApi({ env: { PUBLIC_URL: service, ...env } });
  onTestFinished(() => api.stop());
  await api.app.listen({ port, host: '127.0.0.1' });
  const call = async (token: string, route = '/run/v1/conversations') => {
    const response = await fetch(service + route, { headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, body: (await response.json()) as { detail?: string } };
  };
  return { service, call, storage: api.storage };
}

test('Auth0: tokens of the page, roles and the sign-in of the pages, with the settings that the guide has', async () => {
  const auth0 = await startAuth0();
  const settings = blocks.find((block) => block.kind === 'not run' && block.text.includes('auth0.com'));
  if (settings?.kind !== 'not run') throw new Error('The guide shows no settings for Auth0.');
  const { service, call } = await startService({
    ...(parseEnv(settings.text) as Record<string, string>),
    AUTH_ISSUER: auth0.issuer,
  });
  const ofPage = await auth0.tokensFor({ client_id: 'page', audience: 'interlude' });
  expect(await call(ofPage.access_token)).toMatchObject({ status: 200 });
  expect(await call(ofPage.access_token, '/run/v1/operators/turns')).toMatchObject({ status: 200 });
  const opaque = await auth0.tokensFor({ client_id: 'page' });
  expect(await call(opaque.access_token)).toMatchObject({
    status: 401,
    body: { detail: 'This is neither an access token (JWT) nor an API key.' },
  });
  const other = await auth0.tokensFor({ client_id: 'page', audience: 'https://api.acme.example' });
  expect(await call(other.access_token)).toMatchObject({
    status: 401,
    body: { detail: `The token is for another audience; ask for one with audience interlude or ${service}.` },
  });
  expect(await call(ofPage.id_token)).toMatchObject({ status: 401 });

  const operators = await new Browser().open(`${service}/operators`);
  expect([operators.status, words(operators)]).toEqual([200, expect.stringContaining('Turns')]);
});

test('a backend issues tokens for its users; our own pages need more of it, and say so', async () => {
  const folder = testFolder();
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  writeFileSync(path.join(folder, 'backend.mjs'), shown('backend.mjs').replaceAll('4000', String(port)));
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const backend = startProgram(process.execPath, ['backend.mjs'], { cwd: folder });
  onTestFinished(async () => void (await backend.kill()));
  await backend.sees(issuer);
  const tokenOf = (session: string) =>
    fetch(`${issuer}/interlude-token`, { headers: { cookie: `session=${session}` } });
  const { call, service } = await startService({ AUTH_ISSUER: issuer, AUTH_CLIENT_ID: 'interlude' });
  expect(await call(await (await tokenOf('session-of-alice')).text())).toMatchObject({ status: 200 });
  expect(await tokenOf('stolen')).toMatchObject({ status: 401 });
  const page = await new Browser().open(`${service}/connections`);
  expect(page.status).toBe(503);
  expect(words(page)).toContain('Signing in is not possible right now');
});
