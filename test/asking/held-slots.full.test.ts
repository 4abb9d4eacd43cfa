/** Servers that hold the connection while people think, on a worker with few slots: other calls do not wait. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { startPushingServer } from '../servers/pushing-server.ts';
import type { PushingServer } from '../servers/pushing-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { asTurn } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

const temporal = useDevelopmentServer();
let server: PushingServer;
let service: Service;
let alice: Caller;

afterEach(async () => {
  await service.stop();
  await server.stop();
});

async function start(env: Record<string, string>): Promise<void> {
  server = await startPushingServer();
  service = await startAsking({ temporal, url: server.config.url, env: { WORKER_CALLS: '1', ...env } });
  alice = await service.as('alice');
}

const begin = (text = callOf(['watched'])): Promise<AskedTurn> =>
  asTurn(alice, randomUUID(), (conversation) => alice.chat(text, { conversation }));
const several = (count: number) => Promise.all(Array.from({ length: count }, () => begin()));
const red = { action: 'accept', content: { colour: 'red' } };

/** What becomes of those that are asked, and of those that are not, whichever come first. */
async function outcomesOf(turns: AskedTurn[]): Promise<{ asked: AskedTurn[]; refused: AskedTurn[] }> {
  const isAsked = await Promise.all(
    turns.map(({ stream }) =>
      stream.until(({ type }) => type === 'data-elicitation-request' || type === 'tool-output-error'),
    ),
  ).then((chunks) => chunks.map(({ type }) => type === 'data-elicitation-request'));
  return {
    asked: turns.filter((_, n) => isAsked[n]),
    refused: turns.filter((_, n) => !isAsked[n]),
  };
}

test('held questions leave others their slots: a bystander is answered, and so are all who answer', async () => {
  await start({ WORKER_HELD_CALLS: '4' });
  const turns = await several(6);
  const { asked, refused } = await outcomesOf(turns);
  expect([asked.length, refused.length]).toEqual([4, 2]);
  const bystander = await begin('hello');
  expect(await bystander.end()).toMatchObject({ text: 'You said: hello' });
  const replies = await Promise.all(asked.map((turn) => turn.answer(0, red)));
  expect(replies.map(({ body }) => body['status'])).toEqual(asked.map(() => 'accept'));
  for (const turn of asked) expect(await turn.end()).toMatchObject({ text: 'accept', error: undefined });
});

test('held questions whose time is up all end, however many there are', async () => {
  await start({ WORKER_HELD_CALLS: '4', ELICITATION_TIMEOUT: '2s' });
  // As many as can be held: one more would be asked as well, where it comes after the first end.
  for (const turn of await several(4)) {
    const { text, error } = await turn.end();
    expect(error).toBe(undefined);
    expect(text).toMatch(/^cancel\nAsking asked the user .* nobody answered before it expired/);
    expect(turn.statuses()).toEqual(['expired']);
  }
});

test('one more than can be held is refused in words and asks nobody; its place is free again after an answer', async () => {
  await start({ WORKER_HELD_CALLS: '1' });
  const held = await begin();
  await held.question(0);
  const { error, questions } = await (await begin()).end();
  expect(error).toContain('Asking had a question in the middle of the call');
  expect(error).toContain('as many users as can be waited for');
  expect(error).toContain('may be tried again later');
  expect(questions).toEqual([]);
  await server.saw('cancelled');
  await held.answer(0, red);
  expect(await held.end()).toMatchObject({ text: 'accept' });
  const next = await begin();
  await next.answer(0, red);
  expect(await next.end()).toMatchObject({ text: 'accept' });
});
