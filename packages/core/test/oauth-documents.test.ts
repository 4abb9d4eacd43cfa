import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { createIssuerMetadata } from '../../../src/api/pages/login/identity-client.ts';
import { programAt } from '@interlude-ai/program/login/sign-in-server.ts';
import { json, startServer } from '../../../test/credentials/guarded-server.ts';

const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  revocation_endpoint: '',
  userinfo_endpoint: null,
  scopes_supported: null,
});

/** Like many: what it has nothing to say for is null. */
const issuerWith = async (tokens: object) => {
  const issuer: string = await startServer((request, response) =>
    json(response, request.url === '/token' ? tokens : metadata(issuer)),
  );
  return issuer;
};

const signInPage = (issuer: string) => createIssuerMetadata(new URL(issuer), 'c1', openid.None())();
const terminal = async (issuer: string) =>
  (await programAt({ service: 'http://127.0.0.1', issuer, clientId: 'c1', scope: undefined })).at;

test.each([
  [
    'the sign-in page',
    'members that are null',
    signInPage,
    { token_type: 'Bearer', refresh_token: null, scope: null, expires_in: null },
  ],
  ['the sign-in page', 'no token type', signInPage, {}],
  [
    'the terminal',
    'members that are null',
    terminal,
    { token_type: 'Bearer', refresh_token: null, scope: null, expires_in: null },
  ],
  ['the terminal', 'a fraction of a second to live', terminal, { token_type: null, expires_in: '3599.5' }],
])('%s takes tokens with %s', async (_, __, at, members) => {
  const config = await at(await issuerWith({ access_token: 'a', ...members }));
  expect(await openid.refreshTokenGrant(config, 'r1')).toMatchObject({ access_token: 'a' });
});
