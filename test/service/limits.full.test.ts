/** Limits that count what workers do: tokens of models, and questions. */
import { randomUUID } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchOverload } from '../../src/service/overload.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import { useService } from './use-service.ts';
import type { UsedService } from './use-service.ts';

const form = `call ask_user ${JSON.stringify({
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } } },
})}`;
const agentId = 'interviewer';
const daySeconds = 86_400;

async function start({ service }: UsedService, user: string) {
  const response = await fetch(`${service.baseUrl}/run/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await service.token(user)}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      id: randomUUID(),
      agentId,
      messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    }),
  });
  return {
    status: response.status,
    retryAfter: Number(response.headers.get('retry-after')),
    text: await response.text(),
  };
}

/** A turn that has used tokens before it asked. */
async function waitingTurn({ alice }: UsedService) {
  const conversation = randomUUID();
  const stream = await alice.chat(form, { conversation, agentId });
  const { elicitationId } = await stream.question('pending');
  const answer = () =>
    alice.answer({
      conversationId: conversation,
      elicitationId,
      action: 'accept',
      content: { city: 'Brno' },
    });
  return { stream, answer };
}

describe('of a user', () => {
  const used = useService({ env: { TOKENS_PER_DAY_PER_USER: '1', ELICITATION_MAX_OPEN_PER_TENANT: '1' } });

  test('the tokens of a day end new turns until midnight, not what has begun, and not other users', async () => {
    const { stream, answer } = await waitingTurn(used);
    const refused = await start(used, 'alice');
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('the tokens of this day') });
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect(refused.retryAfter).toBeLessThanOrEqual(daySeconds);

    // One question is as many as the tenant may have open.
    const bob = await (await used.service.as('bob')).chat(form, { agentId });
    await bob.finished();
    expect(bob.chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-output-error',
        errorText: expect.stringMatching(/organisation/),
      }),
    );

    expect(await answer()).toMatchObject({ status: 200 });
    expect((await stream.finished()).at(-1)).toMatchObject({ type: 'finish' });
  });
});

describe('of a tenant', () => {
  const used = useService({ env: { TOKENS_PER_DAY_PER_TENANT: '1' } });

  test('the tokens of a day end new turns of all its users', async () => {
    const { stream, answer } = await waitingTurn(used);
    expect(await start(used, 'bob')).toMatchObject({
      status: 429,
      text: expect.stringContaining('Your tenant has used the tokens of this day'),
    });
    expect(await answer()).toMatchObject({ status: 200 });
    expect((await stream.finished()).at(-1)).toMatchObject({ type: 'finish' });
  });
});

test('a process that is busy for seconds refuses turns, and lets them start again when it is not', async () => {
  const { storage } = await openTestStorage();
  const overload = watchOverload({ storage, most: 40, logger: pino({ level: 'silent' }) });
  onTestFinished(() => overload.close());
  expect(overload.refusal('acme')).toBeNull();
  const soon = { interval: 100 };
  let isBusy = true;
  const work = async () => {
    while (isBusy) {
      for (const until = performance.now() + 400; performance.now() < until;);
      await breathe();
    }
  };
  const working = work();
  await expect
    .poll(() => overload.refusal('acme'), soon)
    .toMatchObject({ code: 'unavailable', details: { retryAfterMs: expect.any(Number) } })
    .finally(() => (isBusy = false));
  await working;
  await expect.poll(() => overload.refusal('acme'), soon).toBeNull();
});
