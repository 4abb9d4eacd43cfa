/**
 * An answer, and a new message right behind it: the answer is recorded, so the turn goes on and the message is refused. And
 * both at the same time. Many times each.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { useService } from '../service/use-service.ts';
import { untilDelegatesWait } from './waiting.ts';

const used = useService();
afterEach(() => used.alice.request('DELETE', '/run/v1/connections/tracker'));

const researcher = 'call agent__researcher {"task":"list my open issues"}';
const editor = 'call agent__editor {"task":"ask the researcher to list my closed issues"}';
const publisher =
  'call agent__publisher {"task":"call agent__editor {\\"task\\":\\"ask the researcher to list my open issues\\"}"}';

/** Two agents and more that want the same account, all waiting. */
async function waiting() {
  const conversation = randomUUID();
  const stream = await used.alice.chat([publisher, editor, researcher].join('\n'), {
    conversation,
    agentId: 'lead',
  });
  const { elicitationId } = await stream.question('pending');
  await untilDelegatesWait(used, { conversation, stream }, 'researcher', 3);
  const decline = () => used.alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
  /** Null when it is refused because the turn is at work. */
  const message = () =>
    used.alice.chat('hello', { conversation }).catch((error: unknown) => {
      if (String(error).includes('turn_in_progress')) return null;
      throw error;
    });
  const statusOf = async () =>
    (await used.service.storage.turns.get({ tenant: 'demo', conversation, turnId: stream.turnId }))?.status;
  return { stream, decline, message, statusOf };
}

test('an answer that came first is never lost to a message', { timeout: 300_000 }, async () => {
  for (let run = 0; run < 50; run++) {
    const { stream, decline, message, statusOf } = await waiting();
    expect(await decline()).toMatchObject({ status: 200 });
    const next = await message();
    await stream.finished();
    expect(await statusOf()).toBe('completed');
    await next?.finished();
  }
});

test('of an answer and a message at the same time, one counts', { timeout: 300_000 }, async () => {
  for (let run = 0; run < 50; run++) {
    const { stream, decline, message, statusOf } = await waiting();
    const [answer, next] = await Promise.all([decline(), message()]);
    await stream.finished();
    await next?.finished();
    const status = await statusOf();
    expect(['completed', 'superseded']).toContain(status);
    const isAnswered = answer.status === 200 && answer.body['status'] === 'decline';
    expect({ run, isAnswered, status }).toEqual({
      run,
      isAnswered: status === 'completed',
      status: isAnswered ? 'completed' : 'superseded',
    });
  }
});
