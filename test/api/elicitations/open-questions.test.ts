/** The questions to a caller, in all conversations: as a list, and as a stream. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlacedElicitation } from '@interlude-ai/core/contract/elicitation.ts';
import { ask, beginTurn, startApi } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { openFeed } from '../conversations/feed-reader.ts';
import { endQuestion } from '../../storage/end-question.ts';

let api: ApiUnderTest;
let baseUrl: string;
beforeAll(async () => {
  api = await startApi();
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => api.stop());

const list = async (who: Who): Promise<PlacedElicitation[]> => {
  const response = await api.send(who, { method: 'GET', url: '/run/v1/elicitations' });
  expect(response.statusCode).toBe(200);
  return response.json().items;
};

async function askAlice(): Promise<{ conversationId: string; elicitationId: string }> {
  const conversationId = randomUUID();
  const elicitationId = await ask(api.storage, await beginTurn(api.storage, conversationId));
  return { conversationId, elicitationId };
}

test('the list has what waits for the caller, with what an answer has to name', async () => {
  const first = await askAlice();
  const second = await askAlice();
  const own = await list('alice');
  for (const question of [first, second])
    expect(own).toContainEqual(
      expect.objectContaining({ ...question, type: 'elicitation-request', status: 'pending' }),
    );
  expect(await list('bob')).toEqual([]);
  expect(await list('service')).toEqual([]);
  await endQuestion(api.storage, first.elicitationId, 'decline');
  expect((await list('alice')).map(({ elicitationId }) => elicitationId)).not.toContain(first.elicitationId);
});

test('the stream tells what is open, and each question again when its status changes', async () => {
  const first = await askAlice();
  const feed = await openFeed(`${baseUrl}/run/v1/elicitations/events`, api.headers('alice'));
  const isAbout = (id: string, status: string) => (event: object) =>
    'elicitationId' in event && event.elicitationId === id && 'status' in event && event.status === status;
  await feed.upTo(isAbout(first.elicitationId, 'pending'));
  const second = await askAlice();
  const told = await feed.upTo(isAbout(second.elicitationId, 'pending'));
  expect(told.at(-1)?.event).toMatchObject(second);
  await endQuestion(api.storage, first.elicitationId, 'expired');
  await feed.upTo(isAbout(first.elicitationId, 'expired'));
  feed.close();
});

test('the stream is refused to a service, whom nobody asks', async () => {
  const response = await fetch(`${baseUrl}/run/v1/elicitations/events`, { headers: api.headers('service') });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ code: 'forbidden' });
});
