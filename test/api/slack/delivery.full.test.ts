/** Answers that never come into their thread: Slack does not take them, or their delivery is ended from outside. */
import { beforeEach, expect, test } from 'vitest';
import { createAnswers } from './answers.ts';
import { useSlackService } from './slack-service.ts';

const setup = await useSlackService();
const { acme, chat, write } = setup;
const { logOf, deliveryOf, ask } = createAnswers(setup);
acme.addUser('U1');
const mention = `<@${acme.botUser}>`;

beforeEach(async () => {
  chat.fault = () => undefined;
  await setup.link('U1', 'alice');
});

test.each(['not_in_channel', 'channel_not_found', 'is_archived'])(
  'an answer that cannot be shown (%s) is given up, and the turn is not harmed',
  async (code) => {
    chat.fault = ({ method }) => (method.startsWith('chat.') ? { kind: 'refused', code } : undefined);
    const { ts, result } = await ask('hello');
    expect(result).toEqual({ status: 'given-up' });
    await expect
      .poll(async () => (await logOf(ts)).at(-1)?.event)
      .toMatchObject({ type: 'turn-ended', status: 'completed' });
    expect(chat.texts('C1', ts)).toEqual([]);
  },
);

test('an answer whose token is dead comes with the next one', async () => {
  let refused = 0;
  chat.fault = ({ method }) => {
    if (!method.startsWith('chat.') || refused > 1) return undefined;
    refused += 1;
    return { kind: 'refused', code: 'token_revoked' };
  };
  const { ts, result } = await ask('hello');
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts)).toEqual(['You said: hello']);
  expect(refused).toBe(2);
});

test('a delivery whose workflow is ended from outside leaves the turn alone', async () => {
  const { ts } = await write({ by: 'U1', text: `${mention} list my open issues`, channel: 'C1' });
  const delivery = await deliveryOf(ts);
  const asked = async () =>
    (await setup.alice.request('GET', '/run/v1/elicitations')).body['items'] as {
      conversationId: string;
      elicitationId: string;
    }[];
  await expect.poll(asked).toHaveLength(1);
  const [{ conversationId, elicitationId } = { conversationId: '', elicitationId: '' }] = await asked();
  await delivery.terminate();
  const { status } = await setup.alice.answer({ conversationId, elicitationId, action: 'decline' });
  expect(status).toBeLessThan(300);
  await expect.poll(async () => (await logOf(ts)).at(-1)?.event.type).toBe('turn-ended');
});
