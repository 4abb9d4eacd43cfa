/** One key, two hundred people at once: no one answers for another. */
import { expect, test } from 'vitest';
import { createApiKey } from '../../src/service/api-keys.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { asTurn, city, useAskingService } from './asking-service.ts';

const people = 200;
const setup = useAskingService({
  env: { OPEN_REQUESTS_PER_ADDRESS: '2000', RATE_LIMIT_PER_MINUTE: '600' },
});

test('two hundred answers at once, each of them also tried for somebody else', async () => {
  const { service, server } = setup;
  const key = await createApiKey(service.storage, 'demo', null, { actsForUsers: true });
  const keyId = key.split('_')[1] ?? '';
  const nameOf = (n: number) => `user-${n % people}`;
  server.play(...Array.from({ length: people }, () => asks({ asked: form('Where to?') })));
  const ask = async (n: number) => {
    const program = service.actingFor(nameOf(n), key);
    const turn = await asTurn(program, `conversation-${n}`, (conversation) =>
      program.chat(callOf(['ask']), { conversation }),
    );
    const { elicitationId } = await turn.question(0);
    return { n, program, turn, elicitationId };
  };
  // Not all of them at once: a busy machine refuses some with 503.
  const asked: Awaited<ReturnType<typeof ask>>[] = [];
  for (let n = 0; n < people; n += 20)
    asked.push(...(await Promise.all(Array.from({ length: 20 }, (_, index) => ask(n + index)))));
  const settled = await Promise.all(
    asked.map(async ({ n, program, turn, elicitationId }) => {
      const other = service.actingFor(nameOf(n + 1), key);
      const question = { conversationId: turn.conversation, elicitationId };
      const [stolen, own] = await Promise.all([
        other.answer({ ...question, action: 'decline' }),
        program.request('POST', '/run/api/elicitation-responses', { ...question, ...city(`City ${n}`) }),
      ]);
      const end = await turn.end();
      // 202: stored, and the busy machine's worker has not said so within two seconds.
      return { stolen: stolen.body['code'], isTaken: own.status < 300, text: end.text };
    }),
  );
  expect(new Set(settled.map((one) => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify({ stolen: 'not_your_question', isTaken: true, text: 'done' })]),
  );
  for (const { n, elicitationId } of asked) {
    const entries = await service.storage.audit.ofElicitation(elicitationId);
    expect(entries.map(({ action, actor }) => `${action} ${actor}`).toSorted()).toEqual([
      `answered key ${keyId} for ${nameOf(n)}`,
      `refused key ${keyId} for ${nameOf(n + 1)}`,
    ]);
  }
  const sent = server.calls.flatMap(({ params }) => JSON.stringify(params).match(/City \d+/g) ?? []);
  expect(new Set(sent).size).toBe(people);
});
