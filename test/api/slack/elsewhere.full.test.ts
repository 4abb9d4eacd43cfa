/** What the thread says of a question that was settled on another surface, as distinct from one that was settled in Slack. */
import { expect, test } from 'vitest';
import { asks, form, page } from '../../servers/scripted-mcp-server.ts';
import { respond } from '../../service/asking.ts';
import { said, useAskingInSlack } from './asking-in-slack.ts';

const setup = await useAskingInSlack();
const { begin, openWindow, press, opened, chat } = setup;

const city = { trip: form('Which city?', { city: { type: 'string', title: 'City' } }) };
const key = { key: form('Which key?', { key: { type: 'string', title: 'API key' } }) };
const link = { shop: page('https://shop.example/pay') };

async function answerElsewhere(elicitationId: string, response: Record<string, unknown>): Promise<void> {
  const row = await setup.service.storage.elicitations.get(elicitationId);
  const alice = await setup.service.as('alice');
  const { status } = await respond(alice, row?.conversation ?? '', { elicitationId }, response as never);
  expect(status).toBeLessThan(300);
}

test.each([
  ['Answered elsewhere', city, { action: 'accept', content: { city: 'Oslo' } }],
  ['Declined elsewhere', city, { action: 'decline' }],
  ['Dismissed elsewhere', city, { action: 'cancel' }],
  ['Opened elsewhere', link, { action: 'accept' }],
])('%s', async (words, question, response) => {
  const asked = await begin([asks(question)]);
  const { message, elicitationId } = await asked.question();
  await answerElsewhere(elicitationId, response);
  expect(await asked.end()).toContain(`*Asking*: ${words}.`);
  const [look] = ['Answer', 'Open'].filter((button) => JSON.stringify(message).includes(`"${button}"`));
  const late = await openWindow({ by: 'U1', button: look ?? '', message });
  expect(said(late)).toContain(`This question is settled already. ${words}.`);
  await press({ by: 'U1', button: 'Not now', message });
  await expect.poll(() => setup.whispered('U1').at(-1)).toContain(`${words}.`);
});

test('what is answered on the page that Slack leads to is answered; where Slack led nobody, it is elsewhere', async () => {
  const led = await begin([asks(key)]);
  const window = await opened(led);
  expect(said(window)).toContain('Open the page');
  await answerElsewhere(window.elicitationId, { action: 'accept', content: { key: 'k1' } });
  expect(await led.end()).toContain('*Asking*: Answered.');
  const other = await begin([asks(key)]);
  const { elicitationId } = await other.question();
  await answerElsewhere(elicitationId, { action: 'accept', content: { key: 'k2' } });
  expect(await other.end()).toContain('*Asking*: Answered elsewhere.');
});

test('a window that was opened and left for another surface says elsewhere, and so does a trigger that died', async () => {
  const asked = await begin([asks(city)]);
  const window = await opened(asked);
  await answerElsewhere(window.elicitationId, { action: 'accept', content: { city: 'Oslo' } });
  expect(await asked.end()).toContain('*Asking*: Answered elsewhere.');
  // Where Slack opens no window, it leads to the page.
  const late = await begin([asks(city)]);
  const { message, elicitationId } = await late.question();
  await press({ by: 'U1', button: 'Answer', message, isLate: true });
  await expect.poll(() => setup.whispered('U1').at(-1)).toContain(elicitationId);
  await answerElsewhere(elicitationId, { action: 'accept', content: { city: 'Oslo' } });
  expect(await late.end()).toContain('*Asking*: Answered.');
  expect(chat.texts('C1', late.ts)).not.toContain('*Asking*: Answered elsewhere.');
});
