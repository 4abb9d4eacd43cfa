import { expect, test } from 'vitest';
import { outcomeWith } from '../../src/remote/network-failure.ts';
import { refusedAccount } from '../../src/remote/request-account.ts';

const otherwise = outcomeWith('unreachable', { code: 'not_mcp', server: 'Odd' });
const account = {
  kind: 'credential',
  headers: { authorization: 'Bearer x' },
  version: 1,
  tokenId: 'x',
} as const;
const nobodys = { kind: 'credential', headers: {}, version: 0 } as const;
const answered = (
  status: number,
  { challenge = null, isPage = false }: { challenge?: string | null; isPage?: boolean } = {},
) => ({
  status,
  challenge,
  isPage,
});

test.each([
  ['401', answered(401)],
  ['401 as a page', answered(401, { isPage: true })],
  ['403', answered(403)],
])('%s refuses, with or without an account', (_, trace) => {
  const { status } = trace;
  for (const credential of [account, nobodys])
    expect(refusedAccount(trace, credential, otherwise)).toEqual({
      kind: 'refused',
      status,
      challenge: null,
    });
});

test.each([400, 404, 406, 422])('%i with the challenge invalid_token refuses like 401', (status) => {
  const challenge = 'Bearer realm="x", error="invalid_token"';
  expect(refusedAccount(answered(status, { challenge }), account, otherwise)).toEqual({
    kind: 'refused',
    status: 401,
    challenge,
  });
});

test.each([
  ['302', answered(302)],
  ['307', answered(307)],
  ['301', answered(301)],
  ['303', answered(303)],
  ['308', answered(308)],
  ['302 as a page', answered(302, { isPage: true })],
  ['400', answered(400)],
  ['400 as a page', answered(400, { isPage: true })],
  ['a page', answered(200, { isPage: true })],
  ['a page that was accepted', answered(202, { isPage: true })],
  ['407, of a proxy', answered(407)],
  ['419, a session that expired', answered(419)],
  ['440, a login that timed out', answered(440)],
  ['498, a token that expired', answered(498)],
])('%s may refuse an account, and means something else without one', (_, trace) => {
  const { status } = trace;
  expect(refusedAccount(trace, account, otherwise)).toEqual({
    kind: 'refused',
    status,
    challenge: null,
    otherwise,
  });
  expect(refusedAccount(trace, nobodys, otherwise)).toBeNull();
});

test.each([
  ['200', answered(200)],
  ['304', answered(304)],
  ['404', answered(404)],
  ['404 as a page', answered(404, { isPage: true })],
  ['408', answered(408)],
  ['429', answered(429)],
  ['429 as a page', answered(429, { isPage: true })],
  ['500 as a page', answered(500, { isPage: true })],
  ['503', answered(503)],
  ['no answer', undefined],
])('%s says nothing of an account', (_, trace) => {
  expect(refusedAccount(trace, account, otherwise)).toBeNull();
});
