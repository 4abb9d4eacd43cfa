/** Answers and questions in Slack, as they come. */
import { beforeAll, expect, test } from 'vitest';
import { connectAccount } from '../../service/connect-account.ts';
import { createAnswers } from './answers.ts';
import { useSlackService } from './slack-service.ts';

const setup = await useSlackService();
const { slack, acme, chat, write } = setup;
const { logOf, deliveryOf, ask } = createAnswers(setup);
acme.addUser('U1');
const mention = `<@${acme.botUser}>`;
beforeAll(() => setup.link('U1', 'alice'));

test('an answer comes in the thread, and history says nothing of it', async () => {
  const { ts, delivery, result } = await ask('hello');
  expect(result).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts)).toEqual(['You said: hello']);
  const [message] = chat.thread('C1', ts);
  expect(message).toMatchObject({ threadTs: ts, user: acme.botUser, streamedSince: null });
  const history = JSON.stringify(await delivery.fetchHistory(), (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(history).not.toContain('You said');
  const [first] = await logOf(ts);
  const rows = await setup.service.storage.slack.deliveries.messages(first?.turnId ?? '');
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain('said');
});

test('a question is a message of its own, which says what became of it, and the answer goes on below', async () => {
  const { ts } = await write({ by: 'U1', text: `${mention} list my open issues` });
  const asked = async () =>
    (await logOf(ts)).flatMap(({ event }) => (event.type === 'elicitation-request' ? [event] : [])).at(-1);
  await expect.poll(asked).toMatchObject({ status: 'pending', mode: 'url' });
  await expect.poll(() => chat.texts('C1', ts).filter((shown) => shown.includes('<@U1>'))).toHaveLength(1);
  const question = await asked();
  const url = question?.mode === 'url' ? question.url : '';
  expect(JSON.stringify(chat.thread('C1', ts))).not.toContain(url);
  // Nothing streams while a question is open.
  expect(chat.thread('C1', ts).every(({ streamedSince }) => streamedSince === null)).toBe(true);
  await connectAccount('alice', url);
  const delivery = await deliveryOf(ts);
  expect(await delivery.result()).toEqual({ status: 'delivered' });
  const texts = chat.texts('C1', ts);
  // Nobody followed Slack's button.
  expect(texts.filter((shown) => shown.includes('Connected'))).toEqual(['*Tracker*: Connected elsewhere.']);
  expect(texts.at(-1)).toContain('Here they are');
  expect(JSON.stringify(slack.calls)).not.toContain(url);
});
