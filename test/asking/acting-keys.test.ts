/** Programs that act for people: turns and questions are those people's, and what a program answers is on record as its doing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/service/api-keys.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { city, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;
let key: string;
beforeAll(async () => {
  key = await createApiKey(setup.service.storage, 'demo', null, { actsForUsers: true });
});
afterAll(() => setup.service.endTurns());

test('a form that is asked of a user is answered by the program, and so written down', async () => {
  const turn = await begin([asks({ asked: form('Where to?') })], {
    by: setup.service.actingFor('alice', key),
  });
  const { elicitationId } = await turn.question(0);
  expect(await setup.service.storage.elicitations.get(elicitationId)).toMatchObject({ user: 'alice' });
  expect((await turn.answer(0, city())).body).toMatchObject({ status: 'accept' });
  expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toMatchObject([
    { action: 'answered', actor: `key ${key.split('_')[1]} for alice`, detail: 'accept' },
  ]);
});

test('what the program began, the person goes on with, and the other way round', async () => {
  const { service, alice } = setup;
  const program = service.actingFor('alice', key);
  for (const [asker, answerer] of [
    [program, alice],
    [alice, program],
  ] as const) {
    const turn = await begin([asks({ asked: form('Where to?') })], { by: asker });
    const { elicitationId } = await turn.question(0);
    const { conversation: conversationId } = turn;
    const own = await answerer.request('GET', '/run/v1/elicitations');
    expect(own.body['items']).toMatchObject([{ elicitationId, conversationId }]);
    const { body } = await answerer.answer({
      conversationId,
      elicitationId,
      action: 'accept',
      content: { city: 'Porto' },
    });
    expect(body).toMatchObject({ status: 'accept' });
    expect((await turn.end()).text).toBe('done');
  }
});
