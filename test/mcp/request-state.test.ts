/** The state that a call gives its client: a changed one, or another call's, is refused. */
import { describe, expect, test } from 'vitest';
import { openState, sealState } from '../../src/api/mcp/modern/request-state.ts';
import type { CallState } from '../../src/api/mcp/modern/request-state.ts';
import type { ToolCall } from '../../src/api/mcp/tools/tool.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import type { Principal } from '../../src/service/principal.ts';
import { createSealedText } from '../../src/service/sealed-text.ts';

const oldKey = generateKey('old');
const newKey = generateKey('new');
const withKeys = (...keys: string[]) => ({ sealedText: createSealedText(parseKeys(keys.join(','))) });
const service = withKeys(oldKey);

const state: CallState = { conversation: 'c', turnId: 't', asked: ['q'], answered: [], rounds: 1 };
const alice = { kind: 'user', tenant: 'acme', user: 'alice' } as const;
const call = { name: 'ask_assistant', arguments: { message: 'hello' }, hops: 0 };
const bound: { principal: Principal; call: ToolCall } = { principal: alice, call };
const sealed = sealState(service, bound, { ...state, questions: [] });
const opened = (given: string, by = bound, from = service) => openState(from, by, given);

test('its own call opens it', () => {
  expect(opened(sealed)).toEqual({ kind: 'valid', state });
  const reordered = { ...call, arguments: { ...call.arguments }, hops: 3 };
  expect(opened(sealed, { principal: alice, call: reordered })).toEqual({ kind: 'valid', state });
});

test('cut off anywhere, or with any character changed, it is none', () => {
  const forged = { kind: 'refused', detail: 'forged request state' };
  for (let length = 0; length < sealed.length; length++)
    expect(opened(sealed.slice(0, length)), `${length} of ${sealed.length}`).toMatchObject(forged);
  for (let at = 0; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect(opened(sealed.slice(0, at) + other + sealed.slice(at + 1)), `at ${at}`).toMatchObject(forged);
  }
  for (const longer of [`${sealed}A`, ` ${sealed}`, `${sealed}\n`, sealed + sealed, `${sealed}=`])
    expect(opened(longer), longer.slice(-5)).toMatchObject(forged);
});

test('two states cannot be put together from halves', () => {
  const other = sealState(service, bound, { ...state, turnId: 'other', questions: [] });
  const mixed = Array.from({ length: sealed.length - 1 }, (_, at) => sealed.slice(0, at) + other.slice(at));
  for (const one of mixed.filter((text) => text !== sealed && text !== other))
    expect(opened(one)).toMatchObject({ kind: 'refused' });
});

test('what is sealed for something else is no state', () => {
  const text = JSON.stringify({ state, owner: '', call: '', expires: Date.now() + 60_000 });
  const given = service.sealedText.seal(text, 'something else');
  expect(opened(given)).toMatchObject({ kind: 'refused', detail: 'forged request state' });
});

describe('keys', () => {
  test('a new key opens what an old one has sealed, as long as that is kept', () => {
    expect(opened(sealed, bound, withKeys(newKey, oldKey))).toEqual({ kind: 'valid', state });
    const gone = { kind: 'refused', detail: 'forged request state' };
    expect(opened(sealed, bound, withKeys(newKey))).toMatchObject(gone);
    const sameName = withKeys(generateKey('old'));
    expect(opened(sealed, bound, sameName)).toMatchObject(gone);
  });
});

test.each<[whose: string, principal: Principal]>([
  ['another user', { kind: 'user', tenant: 'acme', user: 'bob' }],
  ['the same name in another tenant', { kind: 'user', tenant: 'other', user: 'alice' }],
  ['a program that acts for her', { ...alice, actor: { keyId: 'k', service: 'k', mayApprove: false } }],
  ['a service', { kind: 'service', tenant: 'acme', keyId: 'k', service: 'alice' }],
])('%s is refused', (_, principal) => {
  expect(opened(sealed, { principal, call })).toMatchObject({
    kind: 'refused',
    detail: 'request state of somebody else',
  });
});

test.each([
  ['another tool', { ...call, name: 'ask_lead' }],
  ['other arguments', { ...call, arguments: { message: 'bye' } }],
  ['one argument more', { ...call, arguments: { message: 'hello', conversationId: 'c' } }],
  ['none', { ...call, arguments: {} }],
])('a call of %s is refused', (_, other) => {
  expect(opened(sealed, { principal: alice, call: other })).toMatchObject({
    kind: 'refused',
    detail: 'request state of another call',
  });
});

test('it expires an hour after its last question', () => {
  const hour = 60 * 60 * 1000;
  const sealedAt = (last: number) => {
    const [text, use] = [service.sealedText.open(sealed, 'MCP request state') ?? '', 'MCP request state'];
    return service.sealedText.seal(JSON.stringify({ ...JSON.parse(text), expires: last + hour }), use);
  };
  expect(opened(sealedAt(Date.now() - hour + 60_000))).toMatchObject({ kind: 'valid' });
  expect(opened(sealedAt(Date.now() - hour - 1))).toMatchObject({
    kind: 'refused',
    detail: 'expired request state',
  });
});
