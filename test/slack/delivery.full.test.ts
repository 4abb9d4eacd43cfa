/** Answers in Slack, each text once and in order, whatever becomes of the calls. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '../servers/slack/chat.ts';
import { createAnswers, failing } from './answers.ts';
import { useSlackService } from './slack-service.ts';

const setup = await useSlackService();
const { acme, chat, write } = setup;
const { logOf, deliveryOf, ask } = createAnswers(setup);
acme.addUser('U1');
const mention = `<@${acme.botUser}>`;

beforeEach(async () => {
  chat.fault = () => undefined;
  chat.streamsInChannels = true;
  await setup.link('U1', 'alice');
});

test.each([
  ['chat.startStream', { kind: 'lost' }],
  ['chat.startStream', { kind: 'down' }],
  ['chat.startStream', { kind: 'limited', seconds: 0 }],
  ['chat.startStream', { kind: 'refused', code: 'channel_type_not_supported' }],
  ['chat.appendStream', { kind: 'lost' }],
  ['chat.appendStream', { kind: 'down' }],
  ['chat.appendStream', { kind: 'limited', seconds: 0 }],
  ['chat.appendStream', { kind: 'refused', code: 'message_not_in_streaming_state' }],
  ['chat.stopStream', { kind: 'lost' }],
  ['chat.stopStream', { kind: 'refused', code: 'message_not_in_streaming_state' }],
] as [string, Fault][])('%s once %j: the text is there once', { timeout: 8_000 }, async (method, fault) => {
  chat.fault = failing(method, fault);
  const { ts, result } = await ask('hello');
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts).join('')).toBe('You said: hello');
  expect(chat.thread('C1', ts).some(({ streamedSince }) => streamedSince !== null)).toBe(false);
});

describe('where Slack does not stream', () => {
  test.each([
    ['chat.postMessage', { kind: 'lost' }],
    ['chat.postMessage', { kind: 'down' }],
    ['chat.postMessage', { kind: 'limited', seconds: 0 }],
    ['chat.update', { kind: 'lost' }],
    ['chat.update', { kind: 'down' }],
    ['conversations.replies', { kind: 'down' }],
  ] as [string, Fault][])('%s once %j: the text is there once', { timeout: 8_000 }, async (method, fault) => {
    chat.streamsInChannels = false;
    chat.fault = failing(method, fault);
    const { ts, result } = await ask('hello');
    expect(result).toEqual({ status: 'delivered' });
    expect(chat.texts('C1', ts)).toEqual(['You said: hello']);
  });
});

test.each(['not_in_channel', 'channel_not_found', 'token_revoked', 'is_archived', 'account_inactive'])(
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

test('a delivery whose workflow is ended from outside leaves the turn alone', async () => {
  const { ts } = await write({ by: 'U1', text: `${mention} list my open issues`, channel: 'C1' });
  const delivery = await deliveryOf(ts);
  const asked = async () =>
    (await setup.alice.request('GET', '/run/v1/elicitations')).body['items'] as {
      conversationId: string;
      elicitationId: string;
    }[];
  await expect.poll(asked, { timeout: 10_000 }).toHaveLength(1);
  const [{ conversationId, elicitationId } = { conversationId: '', elicitationId: '' }] = await asked();
  await delivery.terminate();
  const { status } = await setup.alice.answer({ conversationId, elicitationId, action: 'decline' });
  expect(status).toBe(200);
  await expect.poll(async () => (await logOf(ts)).at(-1)?.event.type, { timeout: 10_000 }).toBe('turn-ended');
}, 30_000);
