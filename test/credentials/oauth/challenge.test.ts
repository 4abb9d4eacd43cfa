import { expect, test } from 'vitest';
import { readChallenge } from '@interlude-ai/core/oauth/scopes.ts';

const at = 'https://mcp.example/.well-known/oauth-protected-resource';
const metadata = { resourceMetadataUrl: new URL(at) };

/** Several headers arrive as one, as `fetch` joins them. */
const headers = (...values: string[]) =>
  new Headers(values.map((value) => ['www-authenticate', value])).get('www-authenticate');

test.each([
  ['one challenge', headers(`Bearer resource_metadata="${at}", scope="a b"`), { ...metadata, scope: 'a b' }],
  ['another scheme before it', headers(`Basic realm="x", Bearer resource_metadata="${at}"`), metadata],
  ['another scheme after it', headers(`Bearer resource_metadata="${at}", Basic realm="x"`), metadata],
  ['a scheme with credentials before it', headers(`Negotiate YIIabc==, Bearer scope="a"`), { scope: 'a' }],
  [
    'another scheme in a header of its own',
    headers('Basic realm="x"', `Bearer resource_metadata="${at}"`),
    metadata,
  ],
  ['two for bearer tokens', headers('Bearer realm="x"', `Bearer resource_metadata="${at}"`), metadata],
  ['the same word in both', headers('Basic scope="no"', 'Bearer scope="yes"'), { scope: 'yes' }],
  [
    'a comma and a scheme in a text',
    headers('Bearer error_description="no, Basic scope=x", error="invalid_token"'),
    { error: 'invalid_token' },
  ],
  [
    'a quote in a text',
    headers(String.raw`Bearer realm="a \"b\"", error="invalid_token"`),
    { error: 'invalid_token' },
  ],
  [
    'words without quotes',
    headers('bearer error=insufficient_scope, scope=files:read'),
    { error: 'insufficient_scope', scope: 'files:read' },
  ],
  [
    'no commas',
    headers('Bearer error="invalid_token" scope="a b"'),
    { error: 'invalid_token', scope: 'a b' },
  ],
  ['an empty scope', headers('Bearer scope="", error="invalid_token"'), { error: 'invalid_token' }],
  ['a name in capitals', headers('BEARER Scope="a"'), { scope: 'a' }],
  ['an address that is none', headers('Bearer resource_metadata="/relative", scope="a"'), { scope: 'a' }],
  ['proof of possession', headers(`DPoP algs="ES256", resource_metadata="${at}"`), metadata],
  ['nothing for bearer tokens', headers('Basic realm="x", scope="a"'), {}],
  ['no challenge', null, {}],
])('a refusal with %s', (_, header, challenge) => {
  expect(readChallenge(header)).toEqual(challenge);
});
