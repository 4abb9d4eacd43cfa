/** What the first phase was to do in Slack, in its own words, with the account of a real server that is connected on our page. */
import { beforeAll, expect, test } from 'vitest';
import type { ChatMessage } from '../../servers/slack/chat.ts';
import { addViews, buttonsOf } from '../../servers/slack/views.ts';
import type { Views } from '../../servers/slack/views.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { noSignIn, useSlackService } from './slack-service.ts';
let views: Views;
const setup = await useSlackService({
  prepareSlack(slack) {
    views = addViews(slack);
    return noSignIn;
  },
});
const { acme, chat, write } = setup;
beforeAll(async () => {
  for (const user of ['U1', 'U2']) acme.addUser(user);
  await setup.link('U1', 'alice');
  await setup.link('U2', 'bob');
});

async function asked(
  by: string,
  text: string,
  channel = 'C1',
): Promise<{ ts: string; message: ChatMessage }> {
  const { ts } = await write({ by, channel, text: `<@${acme.botUser}> ${text}` });
  const shown = () => chat.thread(channel, ts).find((message) => buttonsOf(message).length > 0);
  await expect.poll(shown).toBeDefined();
  return { ts, message: structuredClone(shown() as ChatMessage) };
}

const press = (by: string, button: string, message: ChatMessage) =>
  views.press(`${setup.service.baseUrl}/slack/interactivity`, { by, button, message });

/** The address that the window of this person leads to. */
async function linkFor(by: string, message: ChatMessage): Promise<string> {
  const before = views.opened.length;
  await press(by, 'Connect', message);
  await expect.poll(() => views.opened.length).toBe(before + 1);
  expect(views.opened[before]?.by).toBe(by);
  return /"url":"([^"]+)"/.exec(JSON.stringify(views.opened[before]?.view))?.[1] ?? '';
}

const saysAtLast = (ts: string) => expect.poll(() => chat.texts('C1', ts).at(-1));

test('declined elicitation → tool returns descriptive error → the agent explains gracefully', async () => {
  const { ts, message } = await asked('U1', 'list my open issues');
  await press('U1', 'Not now', message);
  await expect.poll(() => chat.texts('C1', ts)).toContain('*Tracker*: Declined.');
  await saysAtLast(ts).toMatch(/declined|connect/i);
  // No request asked the server whether it would let us in.
  expect(setup.service.tracker.requests).toBe(0);
});

test('user in Slack encounters user-scoped tool without credential → sees auth message with link → authenticates → tool executes', async () => {
  const { ts, message } = await asked('U1', 'list my open issues');
  expect(message.text).toMatch(/^<@U1> \*Tracker\* asks: Tracker needs your account/);
  expect(buttonsOf(message).map(({ text }) => text.text)).toContain('Connect');
  expect(setup.service.tracker.requests).toBe(0);
  const done = await connectAccount('alice', await linkFor('U1', message));
  expect(done.text).toContain('Tracker is connected');
  await expect.poll(() => chat.texts('C1', ts)).toContain('*Tracker*: Connected.');
  await saysAtLast(ts).toContain('Here they are:');
  expect(setup.service.tracker.calls).toMatchObject([{ account: 'alice' }]);
  // The next one is asked nothing.
  await write({ by: 'U1', threadTs: ts, text: 'list my open issues', type: 'message' });
  await expect.poll(() => setup.service.tracker.calls.length).toBe(2);
  expect(chat.thread('C1', ts).flatMap(buttonsOf)).toEqual([]);
});

test('delegated agent with user-scoped tool → elicitation propagates to the thread of whoever asked → same UX', async () => {
  await setup.service.storage.slack.threads.setAgent('T1', 'C2', 'lead');
  const { ts, message } = await asked('U2', 'ask two researchers', 'C2');
  expect(message.text).toMatch(/^<@U2> \*Tracker\* \(for Researcher\) asks: /);
  await connectAccount('bob', await linkFor('U2', message));
  await expect.poll(() => chat.texts('C2', ts)).toContain('*Tracker* (for Researcher): Connected.');
  await expect
    .poll(() => setup.service.tracker.calls.filter(({ account }) => account === 'bob').length)
    .toBe(2);
  expect(chat.thread('C2', ts).filter(({ text }) => text.startsWith('*Tracker*'))).toHaveLength(1);
});
