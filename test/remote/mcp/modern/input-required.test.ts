/** What a server of the new era answers instead of a result, and what goes back to it: byte for byte what it was. */
import { describe, expect, test } from 'vitest';
import { readInputRequired, retryParams } from '@interlude-ai/core/mcp/rounds.ts';
import { form, page } from '../../../servers/scripted-mcp-server.ts';

const all = { form: true, url: true };
const read = (result: object, capabilities = all) => readInputRequired({ ...result }, capabilities);
const reasonOf = (result: object, capabilities = all) => {
  const answer = read(result, capabilities);
  return answer.kind === 'unaskable' ? answer.reason : 'can be asked';
};

test('requests and state are read as they are, in the order of the server', () => {
  const inputRequests = { z: form('Z'), a: page('https://example.com/x', 'A') };
  expect(read({ inputRequests, requestState: 's' })).toEqual({
    kind: 'pause',
    pause: {
      questions: [
        { key: 'z', request: form('Z').params },
        { key: 'a', request: { mode: 'url', message: 'A', url: 'https://example.com/x' } },
      ],
      resume: { kind: 'retry', requestState: 's' },
    },
  });
});

test.each([
  ['no state', { inputRequests: { a: form('A') } }],
  ['an empty state', { inputRequests: { a: form('A') }, requestState: '' }],
])('%s is none', (_, result) => {
  expect(read(result)).toMatchObject({ pause: { resume: { kind: 'retry' } } });
  expect(JSON.stringify(read(result))).not.toContain('requestState');
});

test.each([
  ['no requests', { requestState: 's' }],
  ['an empty map of them', { inputRequests: {}, requestState: 's' }],
])('%s: nobody is asked, the call is made again', (_, result) => {
  expect(read(result)).toEqual({
    kind: 'pause',
    pause: { questions: [], resume: { kind: 'retry', requestState: 's' } },
  });
});

test('a question without a mode is a form, as it was when there was nothing else', () => {
  const { mode, ...params } = form('A').params;
  expect(mode).toBe('form');
  const inputRequests = { a: { method: 'elicitation/create', params } };
  expect(read({ inputRequests })).toMatchObject({ pause: { questions: [{ request: { mode: 'form' } }] } });
});

describe('refused with a reason', () => {
  const elicit = (params: unknown) => ({ inputRequests: { a: { method: 'elicitation/create', params } } });
  test.each<[words: string, result: object, reason: RegExp]>([
    ['neither requests nor state', {}, /neither inputRequests nor requestState/],
    ['only an empty state', { requestState: '' }, /neither/],
    ['requests in a list', { inputRequests: [{ id: 'a' }], requestState: 's' }, /not a map/],
    ['requests that are null', { inputRequests: null, requestState: 's' }, /not a map/],
    ['a state that is a number', { requestState: 7 }, /not a text/],
    ['a state that is null', { inputRequests: { a: form('A') }, requestState: null }, /not a text/],
    ['a state without end', { requestState: 's'.repeat(256 * 1024 + 1) }, /too long/],
    ['a key without end', { inputRequests: { ['k'.repeat(2_000)]: form('A') } }, /too long/],
    ['something else than a question', { inputRequests: { a: { method: 'roots/list' } } }, /"roots\/list"/],
    ['a request that is a text', { inputRequests: { a: 'What city?' } }, /no request/],
    ['a question without anything', elicit(undefined), /malformed/],
    ['a form without a schema', elicit({ mode: 'form', message: 'A' }), /"requestedSchema" is malformed/],
    ['a link without an address', elicit({ mode: 'url', message: 'A' }), /"url" is malformed/],
    ['a message that is no text', elicit({ ...form('A').params, message: 5 }), /"message" is malformed/],
    ['one bad question among good ones', { inputRequests: { a: form('A'), b: form('') } }, /no message/],
  ])('%s', (_, result, reason) => {
    expect(reasonOf(result)).toMatch(reason);
  });

  test('what the caller cannot show, and only that', () => {
    expect(reasonOf({ inputRequests: { a: form('A') } }, { form: false, url: true })).toMatch(/cannot show/);
    const link = { inputRequests: { a: page('https://example.com') } };
    expect(reasonOf(link, { form: true, url: false })).toMatch(/cannot show/);
    expect(reasonOf(link, { form: false, url: true })).toBe('can be asked');
  });

  test('reasons repeat no more than a few words of the server', () => {
    const reason = reasonOf({ inputRequests: { a: { method: 'm'.repeat(5_000) } } });
    expect(reason.length).toBeLessThan(200);
  });
});

describe('what goes back', () => {
  test('has every key once, content only where there is some, and no state where there was none', () => {
    const answers = [
      { key: 'a', action: 'accept' as const, content: { city: 'Rome' } },
      { key: 'b', action: 'accept' as const },
      { key: 'c', action: 'decline' as const },
      { key: 'd', action: 'cancel' as const },
    ];
    expect(retryParams(answers, undefined)).toEqual({
      inputResponses: {
        a: { action: 'accept', content: { city: 'Rome' } },
        b: { action: 'accept' },
        c: { action: 'decline' },
        d: { action: 'cancel' },
      },
    });
    expect(retryParams([], 's')).toEqual({ requestState: 's' });
  });

  test.each(['__proto__', 'constructor', 'prototype', '', '0', '😀'])('the key %j is a key', (key) => {
    const { inputResponses = {} } = retryParams([{ key, action: 'decline' }], undefined);
    expect(Object.getPrototypeOf(inputResponses)).toBe(Object.prototype);
    expect(JSON.stringify({ inputResponses })).toBe(
      `{"inputResponses":{${JSON.stringify(key)}:{"action":"decline"}}}`,
    );
  });

  test.each([' ', '\u0000', '\uD800', '"\\\n', 'ä\u2028', '😀'.repeat(50_000)])(
    'a state is not touched',
    (state) => {
      const result = read({ requestState: state });
      if (result.kind !== 'pause' || result.pause.resume.kind !== 'retry')
        throw new Error('It can be asked.');
      expect(retryParams([], result.pause.resume.requestState).requestState === state).toBe(true);
    },
  );
});

test('keywords that are null are left out of a form, for every client', () => {
  const note = { type: 'string', minLength: null, title: null, examples: ['Hi'] };
  const requestedSchema = { type: 'object', properties: { note }, required: null };
  const params = { mode: null, message: 'Note?', requestedSchema };
  const answer = read({ inputRequests: { a: { method: 'elicitation/create', params } } });
  const cleaned = { type: 'object', properties: { note: { type: 'string', examples: ['Hi'] } } };
  expect(answer).toMatchObject({ pause: { questions: [{ request: { requestedSchema: cleaned } }] } });
  expect(JSON.stringify(answer)).not.toMatch(/"required"|minLength/);
});
