/** What operators see and do over HTTP, and who is no operator. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealAnswer } from '../../../src/credentials/sealing/sealed-values.ts';
import { openKeys } from '../../../src/credentials/sealing/key-file.ts';
import { begunTurn, keptStep } from '../../storage/contract/fixtures.ts';
import { formQuestion } from '../../storage/contract/question.ts';
import { ask, beginTurn, formRequest, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';

const operatorIsBob = {
  AUTH_OPERATOR_CLAIM: 'sub',
  AUTH_OPERATOR_ROLE: 'bob',
  TEMPORAL_UI_URL: 'https://temporal.example/ui',
};
let api: ApiUnderTest;
/** Where Bob may not see contents. */
let strict: ApiUnderTest;
beforeAll(async () => {
  api = await startApi({ env: { ...operatorIsBob, AUTH_CONTENTS_ROLE: 'bob' } });
  strict = await startApi({ env: operatorIsBob });
});
afterAll(async () => {
  await api.stop();
  await strict.stop();
});

const get = (url: string, who: Who = 'bob', of = api) =>
  of.send(who, { method: 'GET', url: `/run/v1/operators${url}` });
const post = (url: string, who: Who = 'bob') =>
  api.send(who, { method: 'POST', url: `/run/v1/operators${url}` });

/** A turn of alice's in which a server has asked, and she has answered; and one more question is open. */
async function askedTurn(conversation: string, of = api) {
  const turn = await beginTurn(of.storage, conversation);
  await keptStep(of.storage, turn, {
    finish: 'tool-calls',
    calls: [{ toolCallId: 'call', toolName: 'tracker__list_issues', input: { city: 'canary-input' } }],
    events: [
      {
        key: 'call',
        event: {
          type: 'tool-input-available',
          toolCallId: 'call',
          toolName: 'tracker__list_issues',
          input: { city: 'canary-input' },
        },
      },
    ],
  });
  const request = {
    ...formRequest({ type: 'object', properties: { city: { type: 'string' } } }),
    message: 'canary-question',
  };
  const form = formQuestion(turn, { id: `form-of-${conversation}`, request });
  await of.storage.elicitations.open([form], { perUser: 20 });
  const keys = await openKeys(of.config);
  const given = { responseId: 'r', action: 'accept', user: 'alice', receivedAt: 1 } as const;
  await of.storage.elicitations.answer(
    form.id,
    { ...given, sealedContent: sealAnswer(keys, form.id, '{"city":"canary-answer"}') },
    {
      at: 1,
      tenant,
      elicitationId: form.id,
      actor: 'alice',
      action: 'answered',
      detail: 'accept',
      address: null,
    },
  );
  const open = await ask(of.storage, turn);
  return { ...turn, open };
}

describe('a user who is no operator', () => {
  const routes: ['GET' | 'POST', string][] = [
    ['GET', '/turns'],
    ['GET', '/turns/turn-of-refused'],
    ['GET', '/turns/turn-of-refused/contents'],
    ['POST', '/turns/turn-of-refused/cancel'],
    ['GET', '/questions'],
    ['POST', '/questions/question-of-refused/expire'],
  ];
  beforeAll(async () => void (await askedTurn('refused')));

  test.each(routes)('is refused: %s %s', async (method, url) => {
    const send = (who: Who) => api.send(who, { method, url: `/run/v1/operators${url}` });
    for (const who of ['alice', 'service', 'stranger'] as const) {
      const response = await send(who);
      expect([who, response.statusCode, response.json().code]).toEqual([who, 403, 'forbidden']);
    }
    expect((await api.app.inject({ method, url: `/run/v1/operators${url}` })).statusCode).toBe(401);
  });

  test('has changed nothing', async () => {
    expect(await api.storage.elicitations.get('question-of-refused')).toMatchObject({ status: 'pending' });
    expect(await api.storage.oversight.turn('turn-of-refused')).toMatchObject({ endingAt: null });
    expect(await api.storage.audit.ofTurn('turn-of-refused')).toHaveLength(1);
  });

  test('gains nothing by a key that acts for an operator', async () => {
    const { createApiKey } = await import('../../../src/service/api-keys.ts');
    const key = await createApiKey(api.storage, tenant, 'test', {
      actsForUsers: true,
      approvesForUsers: false,
    });
    const headers = { authorization: `Bearer ${key}`, 'x-interlude-user': 'bob' };
    const response = await api.app.inject({ url: '/run/v1/operators/turns', headers });
    expect(response.statusCode).toBe(403);
  });
});

test('a turn of another tenant does not exist for an operator', async () => {
  const turn = {
    tenant: 'another-tenant',
    conversation: 'theirs',
    turnId: 'turn-of-theirs',
    agent: 'assistant',
    user: 'eve',
  };
  await api.storage.turns.prepare(
    { ...turn, capabilities: { url: true, form: true }, clientMessageId: 'm', messages: [] },
    { onBusy: 'refuse', resultOf: () => () => ({}) as never },
  );
  await api.storage.turns.begin(turn);
  const open = await ask(api.storage, turn, { user: 'eve' });
  for (const response of [
    await get('/turns/turn-of-theirs'),
    await get('/turns/turn-of-theirs/contents'),
    await post('/turns/turn-of-theirs/cancel'),
  ])
    expect([response.statusCode, response.json().code]).toEqual([404, 'turn_not_found']);
  const expired = await post(`/questions/${open}/expire`);
  expect([expired.statusCode, expired.json().code]).toEqual([404, 'elicitation_not_found']);
  expect(await api.storage.elicitations.get(open)).toMatchObject({ status: 'pending' });
  const listed = JSON.stringify([(await get('/turns')).json(), (await get('/questions')).json()]);
  expect(listed).not.toContain('theirs');
});

test('turns are found by what they wait for, page by page', async () => {
  const turns = [await askedTurn('first'), await askedTurn('second')];
  const found = (await get('/turns?state=waiting&user=alice&server=tracker&agent=assistant&limit=1')).json();
  expect(found.items).toMatchObject([
    {
      turnId: 'turn-of-second',
      conversationId: 'second',
      user: 'alice',
      state: 'waiting',
      waitsFor: [
        { elicitationId: turns[1]!.open, user: 'alice', trigger: 'credential_required', server: 'tracker' },
      ],
    },
  ]);
  const next = (await get(`/turns?state=waiting&limit=1&cursor=${found.next}`)).json();
  expect(next.items[0].turnId).toBe('turn-of-first');
  expect((await get('/turns?state=failed')).json()).toEqual({ items: [], next: null });
  expect((await get('/turns?state=asleep')).statusCode).toBe(400);
  const questions = (await get('/questions?status=accept&server=tracker')).json();
  expect(questions.items.map(({ elicitationId }: { elicitationId: string }) => elicitationId)).toEqual(
    expect.arrayContaining(['form-of-first', 'form-of-second']),
  );
});

test('the turns of a service are found by its name, and say whose they are', async () => {
  for (const service of ['billing', 'reports', null])
    await begunTurn(api.storage, { tenant, turnId: `turn-for-${service}`, user: null, service });
  expect((await get('/turns?service=billing')).json()).toMatchObject({
    items: [{ turnId: 'turn-for-billing', user: null, service: 'billing' }],
    next: null,
  });
  expect((await get('/turns/turn-for-null')).json()).toMatchObject({ turn: { user: null, service: null } });
});

test('a turn is told without contents, with where else to look', async () => {
  await askedTurn('told');
  const response = await get('/turns/turn-of-told');
  expect(response.json()).toMatchObject({
    turn: { turnId: 'turn-of-told', state: 'waiting' },
    temporalUrl: 'https://temporal.example/ui/namespaces/default/workflows/turn%2Fdemo%2Ftold%2Fturn-of-told',
    traceUrl: null,
    items: [
      { kind: 'started' },
      { kind: 'call', title: 'tracker · list issues' },
      { kind: 'question', status: 'accept', user: 'alice', settledBy: 'alice' },
      { kind: 'question', status: 'pending', user: 'alice' },
    ],
  });
  expect(response.body).not.toContain('canary');
  expect(response.body).not.toContain('hello');
});

test('a turn is found by the eight characters of its id that the log shows, where no other begins with them', async () => {
  for (const turnId of ['0badcafe-1', '5eed5eed-1', '5eed5eed-2'])
    await begunTurn(api.storage, { tenant, turnId });
  await begunTurn(api.storage, { tenant: 'another-tenant', turnId: '0badcafe-2' });
  expect((await get('/turns/0badcafe')).json()).toMatchObject({ turn: { turnId: '0badcafe-1' } });
  const several = await get('/turns/5eed5eed');
  expect([several.statusCode, several.json().detail]).toEqual([
    404,
    expect.stringContaining('Several turns'),
  ]);
  expect((await get('/turns/5eed5ee0')).statusCode).toBe(404);
  expect((await post('/turns/0badcafe/cancel')).json()).toMatchObject({ status: 'cancelling' });
  expect(await api.storage.audit.ofTurn('0badcafe-1')).toMatchObject([{ action: 'cancelled' }]);
});

test('why an account is asked for again is said in the list and in the story', async () => {
  const turn = await beginTurn(api.storage, 'again');
  const { request } = formQuestion(turn);
  const context = { ...request.context, trigger: 'credential_required', reason: 'rejected' } as const;
  const url = 'https://interlude.example/auth/connect?e=again';
  await ask(api.storage, turn, { request: { mode: 'url', message: 'Connect it again.', url, context } });
  expect((await get('/turns/turn-of-again')).json()).toMatchObject({
    turn: { waitsFor: [{ reason: 'rejected' }] },
    items: [
      { kind: 'started' },
      { kind: 'question', title: 'alice was asked to connect Tracker again (Tracker refused the account)' },
    ],
  });
});

test('contents are for who may see them, and each view is in the audit', async () => {
  await askedTurn('seen');
  const response = await get('/turns/turn-of-seen/contents');
  expect(response.body).toMatch(/hello.*canary-input.*canary-question.*canary-answer/);
  expect(await api.storage.audit.ofTurn('turn-of-seen')).toContainEqual(
    expect.objectContaining({
      action: 'viewed',
      actor: 'bob',
      tenant,
      turnId: 'turn-of-seen',
      address: '127.0.0.1',
    }),
  );
  expect((await get('/turns/turn-of-seen')).json().items).toContainEqual(
    expect.objectContaining({ kind: 'act', action: 'viewed', actor: 'bob' }),
  );

  await askedTurn('unseen', strict);
  const refused = await get('/turns/turn-of-unseen/contents', 'bob', strict);
  expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden']);
  expect(refused.body).not.toContain('canary');
  expect((await get('/turns/turn-of-unseen', 'bob', strict)).statusCode).toBe(200);
  const actions = (await strict.storage.audit.ofTurn('turn-of-unseen')).map(({ action }) => action);
  expect(actions).not.toContain('viewed');
});

test('a question expires once, by an operator, whom the audit names', async () => {
  const { open } = await askedTurn('expired');
  expect((await post(`/questions/${open}/expire`)).json()).toEqual({
    elicitationId: open,
    status: 'expired',
    changed: true,
  });
  expect((await post(`/questions/${open}/expire`)).json()).toEqual({
    elicitationId: open,
    status: 'expired',
    changed: false,
  });
  expect(await api.storage.audit.ofElicitation(open)).toMatchObject([
    { action: 'expired', actor: 'bob', address: '127.0.0.1' },
  ]);
  expect(await api.storage.audit.ofTurn('turn-of-expired')).toContainEqual(
    expect.objectContaining({ action: 'expired', turnId: 'turn-of-expired' }),
  );
  const late = await api.send('alice', {
    method: 'POST',
    url: '/run/api/elicitation-responses',
    payload: { conversationId: 'expired', elicitationId: open, action: 'decline' },
  });
  expect([late.statusCode, late.json().code]).toEqual([410, 'expired']);
  const story = (await get('/turns/turn-of-expired')).json();
  expect(story.items.at(-1)).toMatchObject({ status: 'expired', settledBy: 'bob' });
});

test('a turn is cancelled once, by an operator, whom the audit names; its questions close', async () => {
  const { open } = await askedTurn('stopped');
  expect((await post('/turns/turn-of-stopped/cancel')).json()).toEqual({
    turnId: 'turn-of-stopped',
    status: 'cancelling',
  });
  expect(await api.storage.elicitations.get(open)).toMatchObject({ status: 'cancel' });
  expect((await get('/turns/turn-of-stopped')).json()).toMatchObject({ turn: { state: 'cancelling' } });
  expect(await api.storage.audit.ofTurn('turn-of-stopped')).toContainEqual(
    expect.objectContaining({ action: 'cancelled', actor: 'bob' }),
  );
  await api.storage.turns.end({ tenant, conversation: 'stopped', turnId: 'turn-of-stopped' }, 'cancelled', {
    isOwn: true,
  });
  expect((await post('/turns/turn-of-stopped/cancel')).json()).toEqual({
    turnId: 'turn-of-stopped',
    status: 'over',
  });
});
