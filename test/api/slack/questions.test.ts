/** Questions in a thread: who may press what, what they see, and that no one else learns where it leads. */
import { beforeAll, expect, test } from 'vitest';
import type { ChatMessage } from '../../servers/slack/chat.ts';
import { addViews, buttonsOf } from '../../servers/slack/views.ts';
import type { Press, Views } from '../../servers/slack/views.ts';
import { createAnswers } from './answers.ts';
import { noSignIn, useSlackService } from './slack-service.ts';

let views: Views;
const setup = await useSlackService({
  prepareSlack(slack) {
    views = addViews(slack);
    return noSignIn;
  },
});
const { slack, acme, chat, write } = setup;
const { logOf, deliveryOf } = createAnswers(setup);
for (const user of ['U1', 'U2', 'U3']) acme.addUser(user);
beforeAll(async () => {
  await setup.link('U1', 'alice');
  await setup.link('U2', 'bob');
});
const press = (given: Press, path = '/slack/interactivity') =>
  views.press(`${setup.service.baseUrl}${path}`, given);
/** The messages that only this person sees, in order. */
const whispered = (to: string) =>
  slack.calls
    .filter(({ method, args }) => method === 'chat.postEphemeral' && args['user'] === to)
    .map(({ args }) => args['text']);

async function asked(): Promise<{ ts: string; message: ChatMessage; elicitationId: string }> {
  const { ts } = await write({ by: 'U1', text: `<@${acme.botUser}> list my open issues` });
  const shown = () => chat.thread('C1', ts).find((message) => buttonsOf(message).length > 0);
  await expect.poll(shown).toBeDefined();
  const message = structuredClone(shown() as ChatMessage);
  return { ts, message, elicitationId: buttonsOf(message)[0]?.value ?? '' };
}

test('whoever was asked gets the page in a window of their own; the message has no address', async () => {
  const { message, elicitationId, ts } = await asked();
  expect(message.text).toMatch(/^<@U1> \*Tracker\* asks: Tracker needs your account/);
  expect(buttonsOf(message).map(({ text }) => text.text)).toEqual(['Connect', 'Not now']);
  expect(JSON.stringify(message)).not.toContain('http');
  expect((await press({ by: 'U1', button: 'Connect', message })).status).toBe(200);
  await expect.poll(() => views.opened.length).toBe(1);
  const [opened] = views.opened;
  expect(opened?.by).toBe('U1');
  const page = `${setup.service.baseUrl}/auth/answer?e=${elicitationId}`;
  expect(JSON.stringify(opened?.view)).toContain(`"url":"${page}"`);
  // Looking decides nothing.
  expect(await setup.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  await press({ by: 'U1', button: 'Not now', message });
  expect(await (await deliveryOf(ts)).result()).toEqual({ status: 'delivered' });
});

test('two people in one thread each read their own language, which Slack is asked for once', async () => {
  acme.addUser('U7', { locale: 'de-DE' });
  await setup.link('U7', 'dora');
  const text = `<@${acme.botUser}> list my open issues`;
  const { ts } = await write({ by: 'U1', text });
  await write({ by: 'U7', text, threadTs: ts });
  const askedOf = (person: string) =>
    chat.thread('C1', ts).find((message) => message.text.startsWith(`<@${person}>`));
  await expect.poll(() => [askedOf('U1'), askedOf('U7')].includes(undefined)).toBe(false);
  expect(askedOf('U1')?.text).toMatch(/^<@U1> \*Tracker\* asks: Tracker needs your account/);
  expect(askedOf('U7')?.text).toBe('<@U7> *Tracker* fragt: Tracker braucht Ihren Zugang.');
  const [english, german] = [askedOf('U1'), askedOf('U7')].map((one) => structuredClone(one as ChatMessage));
  if (!english || !german) throw new Error('no one was asked');
  expect(buttonsOf(german).map((button) => button.text.text)).toEqual(['Verbinden', 'Nicht jetzt']);

  await press({ by: 'U1', button: 'Verbinden', message: german });
  await expect.poll(() => whispered('U1').at(-1)).toMatch(/^This is for another person/);
  await press({ by: 'U7', button: 'Connect', message: english });
  await expect.poll(() => whispered('U7').at(-1)).toMatch(/^Das ist für jemand anderen/);

  await press({ by: 'U7', button: 'Nicht jetzt', message: german });
  await press({ by: 'U1', button: 'Not now', message: english });
  await expect
    .poll(() => chat.texts('C1', ts))
    .toEqual(expect.arrayContaining(['*Tracker*: Declined.', '*Tracker*: Abgelehnt.']));
  const asked = slack.calls.filter(({ method, args }) => method === 'users.info' && args['user'] === 'U7');
  // The service and its worker each ask once.
  expect(asked.length).toBeLessThanOrEqual(2);
});

test('“Not now” declines it as that person; the message says so, and the turn goes on in the thread', async () => {
  const { message, elicitationId, ts } = await asked();
  await press({ by: 'U1', button: 'Not now', message });
  expect(await (await deliveryOf(ts)).result()).toEqual({ status: 'delivered' });
  expect(chat.texts('C1', ts)).toContain('*Tracker*: Declined.');
  expect(chat.thread('C1', ts).flatMap(buttonsOf)).toEqual([]);
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toMatchObject([
    { action: 'answered', actor: 'alice', detail: 'decline' },
  ]);
  await press({ by: 'U1', button: 'Not now', message });
  await expect.poll(() => whispered('U1').at(-1)).toBe('This question is settled already. Declined.');
});

test('nobody else gets anywhere: another user, somebody unknown, an id that is none', async () => {
  const before = views.opened.length;
  const { message, elicitationId, ts } = await asked();
  for (const button of ['Connect', 'Not now'])
    for (const by of ['U2', 'U3']) expect((await press({ by, button, message })).status).toBe(200);
  await press({ by: 'U1', button: 'Connect', message, value: 'none' });
  const other = 'This is for another person: only the person who was asked can answer it.';
  await expect.poll(() => whispered('U2')).toEqual([other, other]);
  await expect.poll(() => whispered('U3').length).toBe(2);
  expect(whispered('U3')[0]).toContain('I do not know who you are yet');
  await expect.poll(() => whispered('U1').at(-1)).toBe('There is no such question any more.');
  expect(views.opened).toHaveLength(before);
  expect(await setup.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  await press({ by: 'U1', button: 'Not now', message });
  expect(await (await deliveryOf(ts)).result()).toEqual({ status: 'delivered' });
});

test('a window that Slack does not open any more is a word to that person alone', async () => {
  const { message, elicitationId, ts } = await asked();
  await press({ by: 'U1', button: 'Connect', message, isLate: true });
  await expect.poll(() => whispered('U1').at(-1)).toContain(`/auth/answer?e=${elicitationId}`);
  expect(JSON.stringify(chat.thread('C1', ts))).not.toContain('/auth/');
  await press({ by: 'U1', button: 'Not now', message });
  await (await deliveryOf(ts)).result();
});

test('what Slack has not signed, and what is no click, does nothing', async () => {
  const { message, elicitationId, ts } = await asked();
  const url = `${setup.service.baseUrl}/slack/interactivity`;
  const payload = JSON.stringify({
    type: 'block_actions',
    actions: [{ action_id: 'question_decline', value: elicitationId }],
  });
  expect((await slack.sendForm(url, { payload }, { signature: 'v0=00' })).status).toBe(401);
  expect((await slack.sendForm(url, { payload })).status).toBe(200);
  expect((await slack.sendForm(url, { payload: 'x' })).status).toBe(400);
  expect(await setup.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
  await press({ by: 'U1', button: 'Not now', message });
  await (await deliveryOf(ts)).result();
  expect((await logOf(ts)).at(-1)?.event).toMatchObject({ type: 'turn-ended', status: 'completed' });
});
