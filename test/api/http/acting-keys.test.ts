/** Keys that act for users: which user a key may name, how, and the audit of refusals. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import fastifyFactory from 'fastify';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requirePrincipal } from '../../../src/api/http/authentication.ts';
import { createRefusalLimit } from '../../../src/api/http/limits.ts';
import { createApiKey } from '../../../src/service/api-keys.ts';
import { createAuthenticate, createRecordRefusal } from '../../../src/service/authenticate.ts';
import { ask, beginTurn, formRequest, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

let api: ApiUnderTest;
let acting: string;
let plain: string;
beforeAll(async () => {
  api = await startApi();
  acting = await createApiKey(api.storage, tenant, null, { actsForUsers: true });
  plain = await createApiKey(api.storage, tenant);
});
afterAll(() => api.stop());

type Named = string | undefined;

const conversations = { method: 'GET', url: '/run/v1/conversations' } as const;

function send(
  key: string,
  user: Named,
  request: Parameters<ApiUnderTest['send']>[1] = conversations,
  on = api,
) {
  return on.app.inject({
    ...request,
    headers: { authorization: `Bearer ${key}`, ...(user !== undefined && { 'x-interlude-user': user }) },
  });
}

function answer(key: string, user: Named, body: object, on = api) {
  return send(key, user, { method: 'POST', url: '/run/api/elicitation-responses', payload: body }, on);
}

const outcomeOf = (response: LightMyRequestResponse) => [response.statusCode, response.json().code];

async function refusals(elicitationId = '') {
  const entries = await api.storage.audit.ofElicitation(elicitationId);
  return entries.filter(({ action }) => action === 'refused');
}

test('is the user it names, whose conversations and questions it has, and nobody else’s', async () => {
  const turn = await beginTurn(api.storage, 'of-alice');
  const elicitationId = await ask(api.storage, turn);
  const idsOf = async (user: Named) =>
    (await send(acting, user)).json().items.map(({ id }: { id: string }) => id);
  expect(await idsOf('alice')).toContain('of-alice');
  expect(await idsOf('bob')).toEqual([]);
  expect(await idsOf(undefined)).toEqual([]);
  const questions = async (user: string) =>
    (await send(acting, user, { method: 'GET', url: '/run/v1/elicitations' })).json().items;
  expect(await questions('alice')).toMatchObject([{ elicitationId, conversationId: 'of-alice' }]);
  expect(await questions('bob')).toEqual([]);
});

test('of another tenant means another user by the same name', async () => {
  await beginTurn(api.storage, 'of-this-tenant');
  const elsewhere = await createApiKey(api.storage, 'elsewhere', null, { actsForUsers: true });
  expect((await send(elsewhere, 'alice')).json().items).toEqual([]);
  const url = '/run/v1/conversations/of-this-tenant';
  expect(outcomeOf(await send(elsewhere, 'alice', { method: 'GET', url }))).toEqual([
    404,
    'conversation_not_found',
  ]);
});

test('a key without the right that names a user is refused, and that is on record', async () => {
  const before = (await refusals()).length;
  for (const user of ['alice', '', 'a\u00e9'])
    expect(outcomeOf(await send(plain, user))).toEqual([403, 'cannot_act_for_users']);
  expect((await refusals()).slice(before)).toMatchObject(
    Array.from({ length: 3 }, () => ({
      actor: null,
      detail: `key ${plain.split('_')[1]} named a user`,
      address: '127.0.0.1',
    })),
  );
  expect((await send(plain, undefined)).statusCode).toBe(200);
});

test('somebody who is signed in and names a user is refused, even with their own name', async () => {
  for (const user of ['bob', 'alice']) {
    const headers = { 'x-interlude-user': user };
    expect(outcomeOf(await api.send('alice', { ...conversations, headers }))).toEqual([
      403,
      'cannot_act_for_users',
    ]);
  }
  expect((await refusals()).at(-1)).toMatchObject({ actor: 'alice', detail: 'a user named another' });
});

test.each([
  ['nothing', ''],
  ['a space', ' '],
  ['two users', 'alice, bob'],
  ['two users without a space', 'alice,bob'],
  ['something percent-encoded', 'alice%40example.com'],
  ['an encoded end of line', 'alice%0d%0ax-interlude-user:%20bob'],
  ['what looks like alice in another script', 'аlice'],
  ['a letter that clients send in two ways', 'zo\u00eb'],
  ['an invisible character', 'alice\u200b'],
  ['a tab inside', 'ali\tce'],
  ['more characters than a user id has', 'a'.repeat(256)],
])('%s names no user', async (_what, user) => {
  const response = await send(acting, user);
  expect(outcomeOf(response)).toEqual([400, 'invalid_request']);
  expect(response.json().errors).toMatchObject([{ pointer: '/x-interlude-user' }]);
});

test.each(['alice@example.com', 'auth0|5f7c', '00u1-x_y.z~', '"quoted"', 'a'.repeat(255)])(
  '%s is a user',
  async (user) => {
    expect((await send(acting, user)).statusCode).toBe(200);
  },
);

test('a header that is sent twice names no user, however it is spelled', async () => {
  const { port } = new URL(await api.app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1');
  socket.end(
    [
      'GET /run/v1/conversations HTTP/1.1',
      'host: 127.0.0.1',
      'connection: close',
      `authorization: Bearer ${acting}`,
      'x-interlude-user: alice',
      'X-Interlude-User: bob',
      '',
      '',
    ].join('\r\n'),
  );
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1.1 400 /);
});

test('what takes the person is not for the program: consent to a link, an approval, a secret, the end of a connection', async () => {
  const link = await ask(api.storage, await beginTurn(api.storage, 'acting-link'));
  const approval = await ask(api.storage, await beginTurn(api.storage, 'acting-approval'), {
    request: {
      mode: 'form',
      message: 'Approve this?',
      requestedSchema: { type: 'object', properties: {} },
      context: { trigger: 'approval', agent: 'Assistant' },
    },
    server: null,
    seenVersion: null,
  });
  const secret = await ask(api.storage, await beginTurn(api.storage, 'acting-secret'), {
    request: formRequest({ type: 'object', properties: { password: { type: 'string' } } }),
    server: null,
    seenVersion: null,
  });
  const keyId = acting.split('_')[1];
  for (const [conversationId, elicitationId, where] of [
    ['acting-link', link, /let them open it/],
    ['acting-approval', approval, /on this page: \S+\/auth\/answer\?e=/],
    ['acting-secret', secret, /on this page: \S+\/auth\/answer\?e=/],
  ] as const) {
    const yes = { conversationId, elicitationId, action: 'accept' };
    const refused = await answer(acting, 'alice', yes);
    expect(outcomeOf(refused)).toEqual([403, 'person_required']);
    expect(refused.json().detail).toMatch(where);
    expect(await refusals(elicitationId)).toMatchObject([
      { actor: `key ${keyId} for alice`, detail: 'accept for the person', address: '127.0.0.1' },
    ]);
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  }
  const key = { tenant, server: 'tracker', user: 'alice' };
  await api.storage.connections.establish(key, {
    store: 'oauth',
    account: 'alice@tracker',
    scopes: [],
    sealed: 'sealed',
    freshUntil: null,
  });
  const own = (await send(acting, 'alice', { method: 'GET', url: '/run/v1/connections' })).json().items;
  expect(own.find(({ server }: { server: string }) => server === 'tracker')).not.toMatchObject({
    account: 'alice@tracker',
  });
  const end = { method: 'DELETE', url: '/run/v1/connections/tracker' } as const;
  expect(outcomeOf(await send(acting, 'alice', end))).toEqual([403, 'person_required']);
  expect(await api.storage.connections.get(key)).not.toBeNull();
});

test('it may neither export nor delete a conversation', async () => {
  const turn = await beginTurn(api.storage, 'not-for-programs');
  await api.storage.turns.end(turn, 'completed', { isOwn: true });
  const url = '/run/v1/conversations/not-for-programs';
  const before = (await refusals()).length;
  for (const request of [
    { method: 'GET', url: `${url}/export` },
    { method: 'DELETE', url },
  ] as const)
    expect(outcomeOf(await send(acting, 'alice', request))).toEqual([403, 'person_required']);
  expect((await refusals()).slice(before)).toMatchObject([
    { actor: `key ${acting.split('_')[1]} for alice`, detail: 'exporting a conversation for a user' },
    { actor: `key ${acting.split('_')[1]} for alice`, detail: 'deleting a conversation for a user' },
  ]);
  expect(await api.storage.turns.get(turn)).not.toBeNull();
});

test('a program that may approve allows nothing in advance', async () => {
  const approving = await createApiKey(api.storage, tenant, null, {
    actsForUsers: true,
    approvesForUsers: true,
  });
  const elicitationId = await ask(api.storage, await beginTurn(api.storage, 'approving'), {
    request: {
      mode: 'form',
      message: 'Approve this?',
      requestedSchema: { type: 'object', properties: {} },
      context: { trigger: 'approval', agent: 'Assistant' },
    },
    server: null,
    seenVersion: null,
  });
  for (const remember of ['conversation', 'always'])
    expect(
      outcomeOf(
        await answer(approving, 'alice', {
          conversationId: 'approving',
          elicitationId,
          action: 'accept',
          remember,
        }),
      ),
    ).toEqual([403, 'person_required']);
});

test('a question to somebody else than the user it names is not for it', async () => {
  const elicitationId = await ask(api.storage, await beginTurn(api.storage, 'not-for-bob'), {
    request: formRequest({ type: 'object', properties: {} }),
    server: null,
    seenVersion: null,
  });
  const yes = { conversationId: 'not-for-bob', elicitationId, action: 'accept', content: {} };
  for (const user of ['bob', undefined])
    expect(outcomeOf(await answer(acting, user, yes))).toEqual([403, 'not_your_question']);
  const keyId = acting.split('_')[1];
  expect((await refusals(elicitationId)).map(({ actor }) => actor)).toEqual([`key ${keyId} for bob`, null]);
});

test('each user it names has the limit of a user, and all of them ten times as much', async () => {
  const limited = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
  const key = await createApiKey(limited.storage, tenant, null, { actsForUsers: true });
  const status = async (user: Named) => (await send(key, user, conversations, limited)).statusCode;
  expect([await status('alice'), await status('alice'), await status('alice')]).toEqual([200, 200, 429]);
  expect((await limited.send('alice', conversations)).statusCode).toBe(200);
  const statuses = [];
  for (let n = 0; n < 19; n += 1) statuses.push(await status(`user-${n}`));
  expect(statuses).toEqual([...Array.from({ length: 18 }, () => 200), 429]);
  expect(await status(undefined)).toBe(200);

  // Their answers count separately, in the same way.
  const nothing = { conversationId: 'none', elicitationId: randomUUID(), action: 'decline' };
  const answers = [];
  for (let n = 0; n < 21; n += 1) answers.push((await answer(key, `user-${n}`, nothing, limited)).statusCode);
  expect(answers).toEqual([...Array.from({ length: 20 }, () => 404), 429]);
  await limited.stop();
});

test('a key that is revoked reads no further in a stream that is open', async () => {
  const stream = fastifyFactory();
  requirePrincipal(stream, {
    authenticate: createAuthenticate({
      auth: undefined,
      apiKeys: api.storage.apiKeys,
      recordRefusal: createRecordRefusal(api.storage.audit),
    }),
    refusals: createRefusalLimit(10),
    names: { publicUrl: 'https://agents.example', audience: 'interlude' },
    recheckMs: 5,
  });
  stream.get('/', (_, reply) => void reply.hijack().raw.writeHead(200).write('first'));
  const url = await stream.listen({ port: 0, host: '127.0.0.1' });
  const open = async (user?: string) => {
    const key = await createApiKey(api.storage, tenant, null, { actsForUsers: true });
    const headers = {
      authorization: `Bearer ${key}`,
      ...(user !== undefined && { 'x-interlude-user': user }),
    };
    const response = await fetch(url, { headers });
    return { id: key.split('_')[1] ?? '', text: response.text().catch(() => 'cut') };
  };
  const streams = [await open('alice'), await open()];
  for (const { id } of streams) await api.storage.apiKeys.revoke(id);
  expect(await Promise.all(streams.map(({ text }) => text))).toEqual(['cut', 'cut']);
  await stream.close();
});
