/** Several answers in one request: each counts or is refused for itself. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ask, beginTurn, formRequest, startApi } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { endQuestion } from '../../storage/end-question.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

function answer(payload: object, who: Who = 'alice') {
  return api.send(who, { method: 'POST', url: '/run/api/elicitation-responses', payload });
}

const requestedSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const form = { request: formRequest(requestedSchema), server: null, seenVersion: null };

describe('a list of answers', () => {
  test('each gets what it would get alone, in their order, and one that is refused stops no other', async () => {
    const conversationId = 'several';
    const turn = await beginTurn(api.storage, conversationId);
    const wrong = await ask(api.storage, turn, { ...form, id: 'several-wrong' });
    const declined = await ask(api.storage, turn, { ...form, id: 'several-declined' });
    await endQuestion(api.storage, declined, 'decline');
    const elsewhere = await ask(api.storage, await beginTurn(api.storage, 'several-elsewhere'), form);
    const accept = { action: 'accept', content: { city: 'Rome' } };
    const response = await answer({
      conversationId,
      responses: [
        { elicitationId: wrong, action: 'accept', content: { city: 7 } },
        { elicitationId: 'nobody-asked-this', ...accept },
        { elicitationId: elsewhere, ...accept },
        { elicitationId: declined, ...accept },
      ],
    });
    expect(response.statusCode).toBe(200);
    const { items } = response.json();
    expect(items).toMatchObject([
      {
        elicitationId: wrong,
        httpStatus: 422,
        problem: { code: 'invalid_content', errors: [{ pointer: '/content/city' }] },
      },
      { elicitationId: 'nobody-asked-this', httpStatus: 404, problem: { code: 'elicitation_not_found' } },
      { elicitationId: elsewhere, httpStatus: 404, problem: { code: 'elicitation_not_found' } },
      { elicitationId: declined, httpStatus: 409, problem: { code: 'already_answered', outcome: 'decline' } },
    ]);
    expect(items.some((item: object) => 'receipt' in item)).toBe(false);
    expect(await api.storage.elicitations.get(wrong)).toMatchObject({ status: 'pending' });
    expect(await api.storage.elicitations.get(elsewhere)).toMatchObject({ status: 'pending' });
  });

  test("somebody else's are refused one by one, and that is on record", async () => {
    const turn = await beginTurn(api.storage, 'several-foreign');
    const ids = ['foreign-1', 'foreign-2'];
    for (const id of ids) await ask(api.storage, turn, { ...form, id });
    const responses = ids.map((elicitationId) => ({ elicitationId, action: 'decline' }));
    const response = await answer({ conversationId: 'several-foreign', responses }, 'bob');
    expect(response.json().items).toMatchObject([
      { httpStatus: 403, problem: { code: 'not_your_question' } },
      { httpStatus: 403, problem: { code: 'not_your_question' } },
    ]);
  });
});

describe('how many answers a caller may send', () => {
  const limited = { env: { RATE_LIMIT_PER_MINUTE: '5' } };

  test('each of a list counts, and those over the limit are told so, one by one', async () => {
    const { send, stop, storage } = await startApi(limited);
    onTestFinished(stop);
    const turn = await beginTurn(storage, 'many');
    const ids = ['many-1', 'many-2', 'many-3', 'many-4'];
    for (const id of ids) await ask(storage, turn, { ...form, id });
    const list = async (...named: string[]) => {
      const responses = named.map((elicitationId) => ({ elicitationId, action: 'accept', content: {} }));
      const payload = { conversationId: 'many', responses };
      return send('alice', { method: 'POST', url: '/run/api/elicitation-responses', payload });
    };
    const statusesIn = async (...named: string[]) =>
      (await list(...named)).json().items.map(({ httpStatus }: { httpStatus: number }) => httpStatus);
    expect(await statusesIn('many-1', 'many-2', 'many-3')).toEqual([422, 422, 422]);
    expect(await statusesIn('many-4', 'many-1', 'many-2', 'many-3')).toEqual([422, 422, 429, 429]);
    expect((await list('many-1')).statusCode).toBe(429);
  });
});

const one = { elicitationId: 'e1', action: 'decline' };
test.each([
  ['no answer', { conversationId: 'c1', responses: [] }, '/responses'],
  ['the same question twice', { conversationId: 'c1', responses: [one, one] }, '/responses'],
  [
    'more than fifty',
    {
      conversationId: 'c1',
      responses: Array.from({ length: 51 }, (_, id) => ({ ...one, elicitationId: `e${id}` })),
    },
    '/responses',
  ],
  [
    'an action that there is not',
    { conversationId: 'c1', responses: [{ ...one, action: 'no' }] },
    '/responses/0/action',
  ],
  ['no conversation', { responses: [one] }, '/conversationId'],
])('%s is a 400 that points at it, and nothing is answered', async (_, body, pointer) => {
  const response = await answer(body);
  expect(response.statusCode).toBe(400);
  expect(response.json().errors).toContainEqual({ pointer, detail: expect.any(String) });
});
