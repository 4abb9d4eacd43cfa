/** A question answered by a message part: the same question, the same answer, the same receipt as on the other route. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ElicitationReceiptSchema } from '@interlude-ai/core/contract/elicitation.ts';
import { ask, beginTurn, formRequest, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { endQuestion } from '../../storage/end-question.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

interface Given {
  conversationId: string;
  elicitationId: string;
  action: string;
  content?: unknown;
}

const asked = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
const answerPart = (data: unknown) => ({ type: 'data-elicitation-response', data });
const answerMessage = (data: unknown) => ({ id: 'm2', role: 'user', parts: [answerPart(data)] });

function post(body: unknown, who: Who = 'alice', headers: Record<string, string> = {}) {
  return api.send(who, { method: 'POST', url: '/run/api/chat', payload: body as object, headers });
}

function byPart({ conversationId, ...data }: Given, who: Who = 'alice', headers = {}) {
  return post({ id: conversationId, messages: [asked, answerMessage(data)] }, who, headers);
}

function byRoute(given: Given, who: Who = 'alice', headers = {}) {
  const url = '/run/api/elicitation-responses';
  return api.send(who, { method: 'POST', url, payload: given, headers });
}

async function question(conversation: string, details: Parameters<typeof ask>[2] = {}) {
  const turn = await beginTurn(api.storage, conversation);
  const elicitationId = await ask(api.storage, turn, details);
  return { turn, given: { conversationId: conversation, elicitationId, action: 'decline' } };
}

const requestedSchema = {
  type: 'object',
  properties: { email: { type: 'string', format: 'email' } },
  required: ['email'],
};
const form = { request: formRequest(requestedSchema), server: null, seenVersion: null };

describe('an answer that is not valid', () => {
  const data = { elicitationId: 'e1', action: 'accept' };
  const part = answerPart(data);
  const text = { type: 'text', text: 'And hello.' };
  const file = { type: 'file', mediaType: 'image/png', url: 'data:,' };
  const only = (...parts: unknown[]) => ({ id: 'c1', messages: [{ role: 'user', parts }] });
  const withData = (bad: unknown) => only(answerPart(bad));

  const cases: [what: string, body: unknown, ...pointers: string[]][] = [
    ['no data', only({ type: 'data-elicitation-response' }), '/messages/0/parts/0/data'],
    ['data that is a text', withData('yes'), '/messages/0/parts/0/data'],
    ['data that is null', withData(null), '/messages/0/parts/0/data'],
    ['data that is a list', withData([data]), '/messages/0/parts/0/data'],
    ['no elicitation id', withData({ action: 'accept' }), '/messages/0/parts/0/data/elicitationId'],
    [
      'an elicitation id that is a number',
      withData({ ...data, elicitationId: 1 }),
      '/messages/0/parts/0/data/elicitationId',
    ],
    [
      'an elicitation id that no database can look for',
      withData({ ...data, elicitationId: 'e\0' }),
      '/messages/0/parts/0/data/elicitationId',
    ],
    ['no action', withData({ elicitationId: 'e1' }), '/messages/0/parts/0/data/action'],
    ['an unknown action', withData({ ...data, action: 'approve' }), '/messages/0/parts/0/data/action'],
    [
      'the outcome that only the clock may give',
      withData({ ...data, action: 'expired' }),
      '/messages/0/parts/0/data/action',
    ],
    ['content that is a text', withData({ ...data, content: 'yes' }), '/messages/0/parts/0/data/content'],
    ['content that is a list', withData({ ...data, content: [] }), '/messages/0/parts/0/data/content'],
    [
      'a member that nobody knows',
      withData({ ...data, decision: 'yes' }),
      '/messages/0/parts/0/data/decision',
    ],
    [
      'a conversation of its own',
      withData({ ...data, conversationId: 'c2' }),
      '/messages/0/parts/0/data/conversationId',
    ],
    ['text beside it', only(part, text), '/messages/0/parts/1'],
    ['text in front of it', only(text, part), '/messages/0/parts/0'],
    ['a file beside it', only(part, file), '/messages/0/parts/1'],
    ['another answer beside it', only(part, part), '/messages/0/parts/1'],
    [
      'everything beside it',
      only(text, part, file, part),
      '/messages/0/parts/0',
      '/messages/0/parts/2',
      '/messages/0/parts/3',
    ],
    ['no conversation', { messages: [{ role: 'user', parts: [part] }] }, '/id'],
    ['the wish to repeat it', { ...only(part), trigger: 'regenerate-message' }, '/trigger'],
    [
      'the role of the assistant',
      { id: 'c1', messages: [asked, { role: 'assistant', parts: [part] }] },
      '/messages/1/role',
    ],
    [
      'the role of the system',
      { id: 'c1', messages: [asked, { role: 'system', parts: [part] }] },
      '/messages/1/role',
    ],
    [
      'its place in a longer list',
      { id: 'c1', messages: [asked, asked, answerMessage({ ...data, action: 1 })] },
      '/messages/2/parts/0/data/action',
    ],
  ];
  test.each(cases)('for %s is a 400 that points at it', async (_what, body, ...pointers) => {
    const response = await post(body);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      code: 'invalid_request',
      errors: pointers.map((pointer) => ({ pointer, detail: expect.any(String) as string })),
    });
  });

  test('has started no turn', async () => {
    expect(await api.storage.turns.conversation({ tenant, conversation: 'c1' })).toBeNull();
  });

  test('over the size limit is a 413', async () => {
    const response = await post(withData({ ...data, content: { a: 'x'.repeat(api.config.http.bodyLimit) } }));
    expect([response.statusCode, response.json().code]).toEqual([413, 'body_too_large']);
  });

  test.each([
    ['not given', { action: 'accept' }, 400, ['/messages/1/parts/0/data/content']],
    [
      'against its schema',
      { action: 'accept', content: { email: 'nobody' } },
      422,
      ['/messages/1/parts/0/data/content/email'],
    ],
    [
      'not flat',
      { action: 'accept', content: { email: 'a@example.com', more: {} } },
      422,
      ['/messages/1/parts/0/data/content/more'],
    ],
    [
      'given with a no',
      { action: 'decline', content: { email: 'a@example.com' } },
      400,
      ['/messages/1/parts/0/data/content'],
    ],
  ])(
    "with a form's content %s is pointed at in the part, and the question stays open",
    async (what, data_, status, pointers) => {
      const { given } = await question(`form-${what.replaceAll(' ', '-')}`, form);
      const response = await byPart({ ...given, ...data_ });
      expect(response.statusCode).toBe(status);
      expect(response.json().errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
      expect(response.json().detail).not.toContain('nobody');
      expect(await api.storage.elicitations.get(given.elicitationId)).toMatchObject({ status: 'pending' });
    },
  );
});

describe('gets the very response of the other route', () => {
  /** Both routes, on questions in the same state. */
  async function both(
    state: string,
    prepare: (given: Given) => Promise<unknown>,
    { who = 'alice', action = 'decline' }: { who?: Who; action?: string } = {},
  ) {
    const { given: one } = await question(`${state}-one`);
    const { given: two } = await question(`${state}-two`);
    for (const given of [one, two]) await prepare(given);
    const part = await byPart({ ...one, action }, who);
    const route = await byRoute({ ...two, action }, who);
    const told = route.body.replaceAll(two.elicitationId, one.elicitationId);
    expect([part.statusCode, part.json()]).toEqual([route.statusCode, JSON.parse(told)]);
    return part;
  }
  const settle =
    (outcome: 'decline' | 'cancel' | 'expired') =>
    ({ elicitationId }: Given) =>
      endQuestion(api.storage, elicitationId, outcome);
  const nothing = async () => undefined;

  test('when another answer counts: 409', async () => {
    expect((await both('declined', settle('decline'), { action: 'accept' })).statusCode).toBe(409);
  });

  test('when the same answer counts already: a receipt in JSON', async () => {
    const response = await both('twice', settle('decline'));
    expect([response.statusCode, response.headers['content-type']]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(ElicitationReceiptSchema.parse(response.json())).toMatchObject({
      status: 'decline',
      duplicate: true,
    });
  });

  test('when it is too late: 410', async () => {
    expect((await both('late', settle('expired'))).statusCode).toBe(410);
    expect((await both('over', settle('cancel'))).statusCode).toBe(410);
  });

  test('when somebody else was asked: 403, and on record', async () => {
    expect((await both('bobs', nothing, { who: 'bob' })).statusCode).toBe(403);
    expect(await api.storage.audit.ofElicitation('question-of-bobs-one')).toMatchObject([
      { action: 'refused', actor: 'bob', address: '127.0.0.1' },
    ]);
    expect((await both('services', nothing, { who: 'service' })).statusCode).toBe(403);
  });

  test('when there is no such question for the caller: 404', async () => {
    expect((await both('strangers', nothing, { who: 'stranger' })).statusCode).toBe(404);
    const { given } = await question('elsewhere');
    const under = { ...given, conversationId: 'another' };
    expect((await byPart(under)).json()).toEqual((await byRoute(under)).json());
    expect((await byPart({ ...given, elicitationId: 'never-asked' })).statusCode).toBe(404);
  });

  test('when it is not signed: 401', async () => {
    const payload = { id: 'c1', messages: [answerMessage({ elicitationId: 'e1', action: 'decline' })] };
    const response = await api.app.inject({ method: 'POST', url: '/run/api/chat', payload });
    expect(response.statusCode).toBe(401);
  });

  test('while Temporal cannot be reached: a receipt like any other', async () => {
    const response = await both('unlucky', nothing);
    expect([response.statusCode, response.json()]).toMatchObject([200, { duplicate: false }]);
  });

  test('under one Idempotency-Key, whichever of them it is sent to', async () => {
    const { given } = await question('one-key');
    const key = { 'idempotency-key': 'tap-1' };
    expect((await byRoute(given, 'alice', key)).statusCode).toBe(200);
    const other = await byPart({ ...given, action: 'accept' }, 'alice', key);
    expect([other.statusCode, other.json().code]).toEqual([422, 'idempotency_key_reused']);
  });
});

describe('an answer in an earlier message', () => {
  test('means nothing, whatever it looks like: the last message joins its turn', async () => {
    const { turn, given } = await question('earlier');
    const { elicitationId } = given;
    const earlier = [
      answerMessage({ elicitationId, action: 'decline' }),
      answerMessage('nonsense'),
      { role: 'user', parts: [answerPart({}), { type: 'text', text: 'and text' }, answerPart(1)] },
      { role: 'assistant', parts: [answerPart({ elicitationId, action: 'decline' })] },
    ];
    const response = api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      payload: { id: 'earlier', stream: false, messages: [...earlier, asked] },
    });
    await api.storage.turns.end(turn, 'completed');
    expect(await response.then((whole) => [whole.statusCode, whole.headers['x-turn-id']])).toEqual([
      200,
      turn.turnId,
    ]);
    // Closed with its turn, not declined.
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
  });
});

test('parts that are for the client alone may stand beside an answer', async () => {
  const { given } = await question('beside');
  await endQuestion(api.storage, given.elicitationId, 'expired');
  const { conversationId, ...data } = given;
  const parts = [{ type: 'data-mood', data: 'good' }, answerPart(data), { type: 'text', text: ' ' }];
  const response = await post({ id: conversationId, messages: [{ role: 'user', parts }] });
  expect([response.statusCode, response.json().code]).toEqual([410, 'expired']);
});
