/** The app's home and ways to stop: each person's own. */
import { expect, test } from 'vitest';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../../servers/scripted-mcp-server.ts';
import { buttonsOf } from '../../servers/slack/views.ts';
import type { MethodCall } from '../../servers/slack/methods.ts';
import { untilTaken, useAskingInSlack } from './asking-in-slack.ts';

const setup = await useAskingInSlack();
const { begin, press, openWindow, submit, views, slack, write, chat, whispered, statusOf, server } = setup;

const city = () => [asks({ trip: form('Which city?', { city: { type: 'string', title: 'City' } }) })];
const home = (of: string, team = 'T1') => JSON.stringify(views.homes.get(`${team} ${of}`) ?? null);

async function openHome(user: string, tab = 'home'): Promise<void> {
  const event = { type: 'app_home_opened', user, channel: `D${user}`, tab, event_ts: '1.1' };
  const isTheirs = ({ method, args }: MethodCall) => method === 'views.publish' && args['user_id'] === user;
  const before = slack.calls.filter(isTheirs).length;
  await slack.sendEvent(`${setup.service.baseUrl}/slack/events`, event, { team: 'T1' });
  if (tab === 'home') await slack.until(isTheirs, before + 1);
}

test('the home lists one’s own questions with their buttons, and what is connected; answered there, it changes', async () => {
  const asked = await begin(city());
  const { elicitationId } = await asked.question();
  await openHome('U1');
  expect(home('U1')).toContain('*Asking* asks: Which city?');
  expect(home('U1')).toMatch(/Assistant · Open until <!date\^\d+\^\{time\}\|\d\d:\d\d UTC>/);
  expect(home('U1')).toContain(`<${setup.service.baseUrl}/connections|your page>`);
  await openHome('U2');
  expect(home('U2')).toContain('Nothing at the moment.');
  expect(home('U2')).not.toContain('Which city?');

  const window = await openWindow({ by: 'U1', button: 'Answer' });
  await submit(window, { City: 'Lisbon' });
  await untilTaken(window);
  await expect.poll(() => home('U1')).toContain('Nothing at the moment.');
  expect(await asked.end()).toContain('done');
  expect(await statusOf(elicitationId)).toBe('accept');

  // Declined there, with a word in their direct messages.
  const second = await begin(city());
  await second.question();
  await openHome('U1');
  await press({ by: 'U1', button: 'Not now' });
  await expect.poll(() => home('U1')).toContain('Nothing at the moment.');
  await slack.until(({ args }) => args['channel'] === 'DU1' && args['text'] === 'Noted: not now.');
  await second.end();
});

test('a question of somebody else, put into a home’s button, stays theirs', async () => {
  const mine = await begin(city());
  const { elicitationId, message } = await mine.question();
  const theirs = await write({
    by: 'U2',
    channel: 'C1',
    text: `<@${setup.acme.botUser}> call asking__ask {}`,
  });
  await expect.poll(() => chat.texts('C1', theirs.ts).at(-1)).toContain('done');
  await openHome('U1');
  views.homes.set('T1 U2', structuredClone(views.homes.get('T1 U1') as never));
  const before = views.opened.length;
  await press({ by: 'U2', button: 'Answer', value: elicitationId });
  await slack.until(
    ({ args }) => args['channel'] === 'DU2' && String(args['text']).startsWith('This is for'),
  );
  expect(views.opened).toHaveLength(before);
  await press({ by: 'U1', button: 'Not now', message });
  await mine.end();
});

test('whoever is not linked sees how to be; guests and others are told whom it answers', async () => {
  await openHome('U3');
  expect(buttonsOf(views.homes.get('T1 U3') as never).map(({ text }) => text.text)).toEqual([
    'Connect your account',
  ]);
  expect(home('U3')).not.toContain('http');
  await press({ by: 'U3', button: 'Connect your account' });
  await slack.until(
    ({ args }) => args['channel'] === 'DU3' && String(args['text']).includes('/slack/link?t='),
  );
  setup.acme.addUser('UG', { isGuest: true });
  await openHome('UG');
  expect(home('UG')).toContain('I answer members of this workspace');
  expect(buttonsOf(views.homes.get('T1 UG') as never)).toEqual([]);
});

const stuck: ScriptedReply = () => undefined;
const atWork = () => expect.poll(() => server.calls.length).toBe(1);
const ended = (ts: string) => expect.poll(() => chat.texts('C1', ts).at(-1)).toBe('Stopped.');

/** The thread's status at Slack; at `processing` it has a button that stops. */
const sessionsOf = (ts: string) =>
  slack.calls
    .filter(({ method, args }) => method === 'agents.sessions.setStatus' && args['thread_ts'] === ts)
    .map(({ args }) => args['status']);

test('Slack’s stop event ends the turn of whoever presses it, and closes its questions', async () => {
  const asked = await begin(city());
  const { elicitationId } = await asked.question();
  const stop = (user: string) =>
    slack.sendEvent(
      `${setup.service.baseUrl}/slack/events`,
      {
        type: 'agent_session_stopped',
        user,
        channel: 'C1',
        thread_ts: asked.ts,
        streaming_message_ts: [],
        event_ts: '1.2',
      },
      { team: 'T1' },
    );
  await stop('U2');
  await expect.poll(() => whispered('U2').at(-1)).toBe('Only the person who asked me can stop me.');
  expect(await statusOf(elicitationId)).toBe('pending');
  await stop('U1');
  await ended(asked.ts);
  await expect.poll(() => sessionsOf(asked.ts).at(-1)).toBe('active');
  expect(sessionsOf(asked.ts)).toContain('suspended');
  expect(await statusOf(elicitationId)).toBe('cancel');
  expect(chat.texts('C1', asked.ts)).toContain('*Asking*: Dismissed.');
});

test('“/interlude stop” ends what is at work for its author in the channel, and nothing else', async () => {
  const asked = await begin([stuck]);
  await atWork();
  await expect.poll(() => sessionsOf(asked.ts)).toEqual(['processing']);
  const run = async (user: string, channel: string) => {
    const fields = { team_id: 'T1', channel_id: channel, user_id: user, command: '/interlude', text: 'stop' };
    const { body } = await slack.sendForm(`${setup.service.baseUrl}/slack/commands`, fields);
    return (JSON.parse(body) as { text: string }).text;
  };
  expect(await run('U3', 'C1')).toContain('I do not know who you are yet');
  for (const [user, channel] of [
    ['U2', 'C1'],
    ['U1', 'C2'],
  ] as const)
    expect(await run(user, channel)).toBe('I am not at work on anything of yours here.');
  expect(await run('U1', 'C1')).toBe('I stop.');
  await ended(asked.ts);
});

// What waits looks again every fifteen seconds.
test(
  'who writes while the agent is at work is offered to stop it, and what they wrote comes next',
  { timeout: 120_000 },
  async () => {
    const asked = await begin([stuck]);
    await atWork();
    await write({ by: 'U1', threadTs: asked.ts, text: 'hello', type: 'message' });
    const [offer] = await slack.until(({ args }) => String(args['text']).startsWith('I am still at work'));
    const message = { channel: 'C1', ts: '1.3', threadTs: asked.ts, blocks: offer?.args['blocks'] };
    await press({ by: 'U2', button: 'Stop', message });
    await expect.poll(() => whispered('U2').at(-1)).toBe('Only the person who asked me can stop me.');
    await press({ by: 'U1', button: 'Stop', message });
    await expect.poll(() => chat.texts('C1', asked.ts)).toContain('Stopped.');
    await expect
      .poll(() => setup.asked({ threadTs: asked.ts, slackUser: 'U1' }), { timeout: 60_000 })
      .toEqual(['call asking__ask {}', 'hello']);
  },
);
