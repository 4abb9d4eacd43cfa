import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, beginTurn, formRequest, startApi } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { endQuestion } from '../../storage/end-question.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

function answer(body: unknown, who: Who = 'alice', headers: Record<string, string> = {}) {
  return api.send(who, {
    method: 'POST',
    url: '/run/api/elicitation-responses',
    payload: body as object,
    headers,
  });
}

async function question(conversation: string, details: Parameters<typeof ask>[2] = {}) {
  const turn = await beginTurn(api.storage, conversation);
  const elicitationId = await ask(api.storage, turn, details);
  return { turn, elicitationId, yes: { conversationId: conversation, elicitationId, action: 'accept' } };
}

describe('an answer that is not valid', () => {
  const valid = { conversationId: 'c1', elicitationId: 'e1', action: 'accept' };
  const cases: [what: string, body: unknown, pointer: string][] = [
    ['nothing at all', {}, '/conversationId'],
    ['a list', [], ''],
    ['a conversation id with a space', { ...valid, conversationId: 'c 1' }, '/conversationId'],
    ['an elicitation id that is a number', { ...valid, elicitationId: 1 }, '/elicitationId'],
    ['an empty elicitation id', { ...valid, elicitationId: '' }, '/elicitationId'],
    ['an elicitation id that no database can look for', { ...valid, elicitationId: 'e\0' }, '/elicitationId'],
    ['an unknown action', { ...valid, action: 'approve' }, '/action'],
    ['the outcome that only the clock may give', { ...valid, action: 'expired' }, '/action'],
    ['content that is a text', { ...valid, content: 'yes' }, '/content'],
    ['content that is a list', { ...valid, content: [] }, '/content'],
  ];
  test.each(cases)('with %s is a 400 that points at it', async (_what, body, pointer) => {
    const response = await answer(body);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      code: 'invalid_request',
      errors: expect.arrayContaining([{ pointer, detail: expect.any(String) }]),
    });
  });

  test('with a member that nobody knows is a 400', async () => {
    expect((await answer({ ...valid, decision: 'yes' })).statusCode).toBe(400);
  });

  test('with content for a link is a 400', async () => {
    const { yes } = await question('content-for-a-link');
    const response = await answer({ ...yes, content: { a: 1 } });
    expect([response.statusCode, response.json().errors[0].pointer]).toEqual([400, '/content']);
  });
});

describe('a form', () => {
  const requestedSchema = {
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email' },
      count: { type: 'integer', minimum: 1 },
      size: { type: 'string', enum: ['small', 'large'] },
    },
    required: ['email'],
  };

  test('answered against its schema is a 422 that points at each field, and stays open', async () => {
    const { yes, elicitationId } = await question('form', {
      request: formRequest(requestedSchema),
      server: null,
      seenVersion: null,
    });
    const response = await answer({ ...yes, content: { email: 'nobody', count: 0, size: 'huge' } });
    expect([response.statusCode, response.json().code]).toEqual([422, 'invalid_content']);
    const pointers = response.json().errors.map((error: { pointer: string }) => error.pointer);
    expect(pointers.toSorted()).toEqual(['/content/count', '/content/email', '/content/size']);
    expect(response.body).not.toContain('huge');
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  });

  test.each([
    ['an object', '{"a":1}'],
    ['nothing', 'null'],
    ['a list of lists', '[["a"]]'],
    ['a tower of lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('takes flat values only: %s beside them is a 422', async (what, value) => {
    const form = { request: formRequest(requestedSchema), server: null, seenVersion: null };
    const { yes } = await question(`form-${what.replaceAll(' ', '-')}`, form);
    const body = JSON.stringify({ ...yes, content: { email: 'a@example.com', more: 0 } });
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/elicitation-responses',
      headers: { 'content-type': 'application/json' },
      payload: body.replace('"more":0', `"more":${value}`),
    });
    expect([response.statusCode, response.json().errors]).toMatchObject([
      422,
      [{ pointer: '/content/more' }],
    ]);
  });

  test('accepted without content is a 400', async () => {
    const { yes } = await question('form-without', {
      request: formRequest(requestedSchema),
      server: null,
      seenVersion: null,
    });
    expect((await answer(yes)).statusCode).toBe(400);
  });

  test('whose schema cannot be read can only be declined', async () => {
    const unreadable = formRequest({
      type: 'object',
      properties: { a: { $ref: 'https://elsewhere.example' } },
    });
    const { yes } = await question('form-unreadable', {
      request: unreadable,
      server: null,
      seenVersion: null,
    });
    expect((await answer({ ...yes, content: { a: 'x' } })).statusCode).toBe(422);
  });
});

describe('who may answer', () => {
  test.each(['bob', 'service'] as const)('not %s: 403, and it is on record', async (who) => {
    const { yes, elicitationId } = await question(`not-for-${who}`);
    const response = await answer(yes, who);
    expect([response.statusCode, response.json().code]).toEqual([403, 'not_your_question']);
    expect(await api.storage.audit.ofElicitation(elicitationId)).toMatchObject([
      { action: 'refused', actor: who === 'bob' ? 'bob' : null, address: '127.0.0.1' },
    ]);
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  });

  test('not somebody of another tenant, for whom it does not exist', async () => {
    const { yes } = await question('not-for-strangers');
    const response = await answer(yes, 'stranger');
    expect([response.statusCode, response.json().code]).toEqual([404, 'elicitation_not_found']);
  });

  test('nobody, under another conversation', async () => {
    const { yes } = await question('elsewhere');
    const response = await answer({ ...yes, conversationId: 'another' });
    expect([response.statusCode, response.json().code]).toEqual([404, 'elicitation_not_found']);
  });
});

describe('a question that is over', () => {
  test('and was declined answers an accept with 409 and the outcome', async () => {
    const { yes, elicitationId } = await question('declined');
    await endQuestion(api.storage, elicitationId, 'decline');
    const response = await answer(yes);
    expect([response.statusCode, response.json()]).toMatchObject([
      409,
      { code: 'already_answered', outcome: 'decline' },
    ]);
  });

  test('and was declined takes the same answer again, whatever name it is sent under', async () => {
    const { yes, elicitationId } = await question('declined-twice');
    await endQuestion(api.storage, elicitationId, 'decline');
    const response = await answer({ ...yes, action: 'decline' }, 'alice', { 'idempotency-key': 'another' });
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { elicitationId, status: 'decline', duplicate: true },
    ]);
  });

  test('and whose account is connected takes one more yes for the same yes', async () => {
    const { yes, elicitationId } = await question('connected');
    await endQuestion(api.storage, elicitationId, 'accept');
    const response = await answer(yes);
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { elicitationId, status: 'accept', duplicate: true },
    ]);
  });

  test('because its deadline has passed is a 410, before and after it has expired', async () => {
    const { yes, elicitationId } = await question('expired', { timeoutMs: 1 });
    await setTimeout(5);
    const late = async () => {
      const response = await answer(yes);
      return [response.statusCode, response.json().code];
    };
    expect(await late()).toEqual([410, 'expired']);
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
    await api.storage.elicitations.settle([elicitationId], { type: 'deadline-passed' });
    expect(await late()).toEqual([410, 'expired']);
  });

  test('because its server gave up is a 410', async () => {
    const { yes, elicitationId } = await question('given-up-before');
    await endQuestion(api.storage, elicitationId, 'expired');
    const response = await answer(yes);
    expect([response.statusCode, response.json().code]).toEqual([410, 'expired']);
  });

  test("because its turn was cancelled is a 410, not somebody else's answer", async () => {
    const { yes, elicitationId } = await question('cancelled');
    await endQuestion(api.storage, elicitationId, 'cancel');
    const response = await answer(yes);
    expect([response.statusCode, response.json().code]).toEqual([410, 'turn_over']);
  });
});

describe('while Temporal cannot be reached', () => {
  test('an answer is recorded, with a final receipt and an audit entry', async () => {
    const { yes, elicitationId } = await question('unlucky');
    const no = { ...yes, action: 'decline' };
    for (const duplicate of [false, true]) {
      const response = await answer(no);
      expect([response.statusCode, response.json()]).toEqual([
        200,
        { elicitationId, status: 'decline', duplicate },
      ]);
    }
    expect(await api.storage.audit.ofElicitation(elicitationId)).toMatchObject([
      { action: 'answered', actor: 'alice', detail: 'decline', address: '127.0.0.1' },
    ]);
  });

  test('consent to connect an account is recorded, and the question waits for the account', async () => {
    const { yes, elicitationId } = await question('consent');
    const consent = async () => {
      const response = await answer(yes);
      return [response.statusCode, response.json()];
    };
    const awaiting = [202, { elicitationId, status: 'pending', awaiting: 'connection' }];
    expect([await consent(), await consent()]).toEqual([awaiting, awaiting]);
    await endQuestion(api.storage, elicitationId, 'accept');
    expect(await consent()).toEqual([200, { elicitationId, status: 'accept', duplicate: true }]);
  });

  test('of two opposite answers at once, one is recorded and the other gets 409 with its outcome', async () => {
    const { conversationId, elicitationId } = (await question('opposite')).yes;
    const actions = ['decline', 'cancel'];
    const responses = await Promise.all(
      actions.map((action) => answer({ conversationId, elicitationId, action })),
    );
    const won = responses.findIndex(({ statusCode }) => statusCode === 200);
    expect(responses[1 - won]?.statusCode).toBe(409);
    expect(responses[1 - won]?.json()).toMatchObject({ code: 'already_answered', outcome: actions[won] });
  });

  test('one Idempotency-Key cannot name two answers', async () => {
    const { yes } = await question('one-key');
    const key = { 'idempotency-key': 'tap-1' };
    expect((await answer(yes, 'alice', key)).statusCode).toBe(202);
    const no = { ...yes, action: 'decline' };
    const response = await answer(no, 'alice', key);
    expect([response.statusCode, response.json().code]).toEqual([422, 'idempotency_key_reused']);
    // Nor when it has become the answer on record meanwhile.
    await endQuestion(api.storage, yes.elicitationId, 'accept');
    expect((await answer(no, 'alice', key)).statusCode).toBe(422);
    expect((await answer(yes, 'alice', key)).statusCode).toBe(200);
  });
});

describe('the questions of a conversation', () => {
  test('are listed as the events that clients know', async () => {
    const { elicitationId } = await question('listed');
    const url = '/run/v1/conversations/listed/elicitations?status=pending';
    const response = await api.send('alice', { url });
    const german = await api.send('alice', { url, headers: { 'x-user-language': 'de' } });
    expect(german.json()).toMatchObject({ items: [{ message: 'Tracker braucht Ihren Zugang.' }] });
    expect(response.json()).toEqual({
      items: [
        {
          type: 'elicitation-request',
          elicitationId,
          mode: 'url',
          message: 'Tracker needs your account.',
          url: `http://localhost/auth/connect?e=${elicitationId}`,
          context: expect.objectContaining({ server: 'tracker' }),
          status: 'pending',
          expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        },
      ],
      next: null,
    });
  });

  test('say why they closed without an answer, as the log does', async () => {
    const { elicitationId } = await question('given-up');
    await endQuestion(api.storage, elicitationId, 'expired');
    const url = '/run/v1/conversations/given-up/elicitations';
    const { items } = (await api.send('alice', { method: 'GET', url })).json();
    const entries = await api.storage.turnLog.read({ tenant: 'demo', conversation: 'given-up' }, 0);
    expect(items).toEqual([entries.at(-1)?.event]);
    expect(items[0]).toMatchObject({ status: 'expired', because: 'server_gave_up' });
  });

  test('can be asked for by status', async () => {
    await question('filtered');
    const url = '/run/v1/conversations/filtered/elicitations';
    expect((await api.send('alice', { method: 'GET', url: `${url}?status=decline` })).json().items).toEqual(
      [],
    );
    const unknown = await api.send('alice', { method: 'GET', url: `${url}?status=open` });
    expect([unknown.statusCode, unknown.json().errors[0].pointer]).toEqual([400, '/status']);
  });
});
