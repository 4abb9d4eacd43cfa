/** Events of Slack: which are accepted, which are refused, and which become a turn, of which user. */
import { expect, test } from 'vitest';
import { openBrowser } from '../../browsers/plain-browser.ts';
import { newEventId } from '../../servers/slack/deliver.ts';
import { useSlackService } from './slack-service.ts';

const setup = await useSlackService();
const { slack, acme, write } = setup;
acme.addUser('U1');
acme.addUser('U2', { name: 'bob' });
const url = () => `${setup.service.baseUrl}/slack/events`;
const mention = `<@${acme.botUser}>`;
const hello = { type: 'app_mention', channel: 'C1', user: 'U1', text: `${mention} hello`, ts: '1.000001' };

test('what is not signed, old, replayed or of a foreign workspace is refused, and nothing of it is kept', async () => {
  const now = Math.floor(Date.now() / 1000);
  const send = (options: object) => slack.sendEvent(url(), hello, { team: 'T1', ...options });
  for (const options of [
    { signature: null },
    { signature: `v0=${'0'.repeat(64)}` },
    { timestamp: now - 400 },
    { timestamp: now + 400 },
    { headers: { 'x-slack-request-timestamp': String(now - 1) } },
  ])
    expect((await send(options)).status, JSON.stringify(options)).toBe(401);
  expect(await slack.sendEvent(url(), hello, { team: 'T9' })).toMatchObject({ status: 403 });
  expect((await slack.send(url(), 'no JSON', 'application/json')).status).toBe(400);
  expect((await slack.send(url(), '[]', 'application/json')).status).toBe(400);
  expect((await slack.send(url(), 'a=b', 'text/plain')).status).toBe(415);
  expect(await setup.service.storage.slack.events.claim(100, 0)).toEqual([]);
});

test('the address is verified', async () => {
  const challenge = { type: 'url_verification', challenge: 'a challenge', token: 'x' };
  const sent = await slack.send(url(), JSON.stringify(challenge), 'application/json');
  expect(JSON.parse(sent.body)).toEqual({ challenge: 'a challenge' });
});

test('a mention is a turn of whoever wrote it, and their replies in its thread need no mention', async () => {
  await setup.link('U1', 'alice');
  await setup.link('U2', 'bob');
  const eventId = newEventId();
  const { ts: threadTs } = await write({ by: 'U1', text: `${mention} hello &amp; welcome`, eventId });
  const alices = { threadTs, slackUser: 'U1' };
  const bobs = { threadTs, slackUser: 'U2' };
  await expect.poll(() => setup.asked(alices)).toEqual(['hello & welcome']);
  const reply = { type: 'message', threadTs } as const;
  // Again, and once more as the message that it also is.
  await slack.sendEvent(
    url(),
    { ...hello, ts: threadTs, text: 'changed' },
    { team: 'T1', eventId, retry: 1 },
  );
  await write({ by: 'U1', text: `${mention} hello`, type: 'message', ts: threadTs });
  // Bob talks to Alice, then to us.
  await write({ by: 'U2', text: 'what is this?', ...reply });
  await write({ by: 'U1', text: 'and now?', ...reply });
  await expect.poll(() => setup.asked(alices)).toEqual(['hello & welcome', 'and now?']);
  expect(await setup.asked(bobs)).toEqual([]);
  await write({ by: 'U2', text: `${mention} tell <@U1> and <@U2|x>`, threadTs });
  await expect.poll(() => setup.asked(bobs)).toEqual(['tell @u1 and @bob']);
  const { threads } = setup.service.storage.slack;
  const of = (slackUser: string) => threads.get({ team: 'T1', channel: 'C1', threadTs, slackUser });
  expect((await of('U1'))?.conversation).not.toBe((await of('U2'))?.conversation);
  const conversation = (await of('U1'))?.conversation ?? '';
  const read = async (user: string) =>
    fetch(`${setup.service.baseUrl}/run/v1/conversations/${conversation}`, {
      headers: { authorization: `Bearer ${await setup.service.token(user)}` },
    });
  expect((await read('alice')).status).toBe(200);
  expect((await read('bob')).status).toBe(404);
});

test('a direct message is for us, with what is attached named; what people did not write is ignored', async () => {
  const files = [{ id: 'F1', name: 'plan.pdf' }];
  const { ts } = await write({
    by: 'U1',
    channel: 'DU1',
    text: 'read this',
    more: { subtype: 'file_share', files },
  });
  const thread = { channel: 'DU1', threadTs: ts, slackUser: 'U1' };
  await expect
    .poll(() => setup.asked(thread))
    .toEqual(['read this\n\n(Attached in Slack, and not readable here: plan.pdf)']);
  for (const more of [
    { subtype: 'message_changed' },
    { subtype: 'channel_join' },
    { subtype: 'message_deleted' },
    { bot_id: 'B1' },
    { user: acme.botUser },
    { hidden: true },
  ])
    expect((await write({ by: 'U1', channel: 'DU1', text: 'x', threadTs: ts, more })).status).toBe(200);
  // What people say to each other in a channel is not kept at all.
  const { ts: amongUs } = await write({ by: 'U1', text: 'among us', type: 'message' });
  const row = {
    team: 'T1',
    eventId: `C1/${amongUs}`,
    slackUser: 'U1',
    lane: 'x',
    ts: '1.0',
    sealed: '',
  };
  const { events } = setup.service.storage.slack;
  expect(await events.add(row)).toBe(true);
  await events.finish(row);
  await write({ by: 'U1', channel: 'DU1', text: 'last', threadTs: ts });
  await expect.poll(() => setup.asked(thread)).toHaveLength(2);
});

test('a mention that comes only as a message is taken, and once if it comes as both', async () => {
  // Shared channels, and messages with files, have no `app_mention`.
  const text = `${mention} read the plan`;
  const { ts: threadTs } = await write({ by: 'U1', text, type: 'message' });
  const thread = { threadTs, slackUser: 'U1' };
  await expect.poll(() => setup.asked(thread)).toEqual(['read the plan']);
  await write({ by: 'U1', text, ts: threadTs });
  await write({ by: 'U1', text: 'and then?', type: 'message', threadTs });
  await expect.poll(() => setup.asked(thread)).toEqual(['read the plan', 'and then?']);
});

test('what a message forwards reaches the agent, named as forwarded', async () => {
  const attachments = [
    { is_share: true, author_name: 'Carol', text: 'The plan:\n&gt; done' },
    { title: 'a preview of a page', text: 'not forwarded' },
  ];
  const { ts } = await write({ by: 'U1', channel: 'DU1', text: '', more: { attachments } });
  await expect
    .poll(() => setup.asked({ channel: 'DU1', threadTs: ts, slackUser: 'U1' }))
    .toEqual(['(Forwarded in Slack, written by Carol)\n> The plan:\n> > done']);
});

test('a mention that says nothing is answered with what to do', async () => {
  await write({ by: 'U1', text: ` ${mention} ` });
  const [said] = await slack.until(({ args }) =>
    `${String(args['text'])}`.includes('What can I do for you?'),
  );
  expect(said).toMatchObject({ method: 'chat.postEphemeral', args: { channel: 'C1', user: 'U1' } });
});

test('what one person writes in a thread is taken in its order, however it comes', async () => {
  const { ts: threadTs } = await write({ by: 'U1', text: 'one', channel: 'DU1' });
  const thread = { channel: 'DU1', threadTs, slackUser: 'U1' };
  await write({ by: 'U1', text: 'two', channel: 'DU1', threadTs });
  await expect.poll(() => setup.asked(thread)).toEqual(['one', 'two']);
});

test('without a client at Slack, the link in the person’s own hands is the proof', async () => {
  acme.addUser('U5', { name: 'eve' });
  const { ts: threadTs } = await write({ by: 'U5', channel: 'DU5', text: 'hello' });
  const [offer] = await slack.until(
    ({ args }) => args['channel'] === 'DU5' && args['thread_ts'] === threadTs,
  );
  const [, link = ''] = /<([^|>]+)\|/.exec(String(offer?.args['text'])) ?? [];
  const browser = openBrowser();
  const page = await browser.press(await browser.get(link), 'Continue as Bob');
  expect(page.text).toContain('If another person sent you the link, close this page');
  expect((await browser.press(page, 'Yes, this is me')).text).toContain('eve in Acme acts as you now');
  await expect.poll(() => setup.asked({ channel: 'DU5', threadTs, slackUser: 'U5' })).toEqual(['hello']);
});
