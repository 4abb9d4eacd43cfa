/** Who speaks: links in the right and in the wrong hands, workspaces of several tenants, and what goes on once linked. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openBrowser } from '../../browsers/plain-browser.ts';
import type { Browser, Page } from '../../browsers/plain-browser.ts';
import { addSignIn } from '../../servers/slack/sign-in.ts';
import type { MethodCall } from '../../servers/slack/methods.ts';
import { useSlackService } from './slack-service.ts';

const operatorIsBob = { AUTH_OPERATOR_ROLE: 'bob', AUTH_OPERATOR_CLAIM: 'sub' };
const log: string[] = [];
const logger = pino({ level: 'error' }, { write: (line) => void log.push(line) });
const setup = await useSlackService({ env: operatorIsBob, prepareSlack: addSignIn, logger });
const { slack, acme, write, signIn } = setup;
const mention = `<@${acme.botUser}>`;
const at = (path: string) => `${setup.service.baseUrl}${path}`;

/** The link that this person was handed last. */
async function linkFor(slackUser: string, count = 1): Promise<string> {
  const isOffer = ({ args }: MethodCall) =>
    args['user'] === slackUser && String(args['text']).includes('/slack/link?t=');
  const offers = await slack.until(isOffer, count);
  const [, link = ''] = /<([^|>]+)\|/.exec(String(offers.at(-1)?.args['text'])) ?? [];
  return link;
}

async function as(user: 'Alice' | 'Bob', url: string): Promise<[Browser, Page]> {
  const browser = openBrowser();
  return [browser, await browser.press(await browser.get(url), `Continue as ${user}`)];
}

test('what an unlinked person asked goes on once Slack has said that it is them', async () => {
  acme.addUser('U1', { name: 'ally' });
  const { ts: threadTs } = await write({ by: 'U1', text: `${mention} hello` });
  await write({ by: 'U1', text: `${mention} and this`, threadTs });
  await linkFor('U1');
  await write({ by: 'U1', text: 'and that', type: 'message', threadTs });
  const thread = { threadTs, slackUser: 'U1' };
  const link = await linkFor('U1');
  const offers = slack.calls.filter(
    ({ method, args }) => method === 'chat.postEphemeral' && args['user'] === 'U1',
  );
  expect(offers).toMatchObject([{ args: { channel: 'C1', thread_ts: threadTs } }]);
  expect(await setup.asked(thread)).toEqual([]);

  // Previews may look at it: nothing is used up by reading, and the ticket does not stay in the address.
  await fetch(link);
  const [browser, page] = await as('Alice', link);
  expect(page.url.href).toBe(at('/slack/link'));
  expect(page.text).toContain('What ally writes to the agent in Acme');
  signIn.person = { team: 'T1', user: 'U1' };
  const linked = await browser.press(page, 'Continue with Slack');
  expect(linked.text).toContain('ally in Acme acts as you now');
  await expect.poll(() => setup.asked(thread)).toEqual(['hello', 'and this', 'and that']);
  expect(await setup.service.storage.slack.people.get({ team: 'T1', slackUser: 'U1' })).toMatchObject({
    tenant: 'demo',
    user: 'alice',
  });

  // Used once; and the settings end it.
  expect((await openBrowser().get(link)).status).toBe(410);
  const settings = await browser.get(at('/connections'));
  expect(settings.text).toContain('In Slack');
  await browser.press(settings, 'Disconnect Acme in Slack');
  expect(await setup.service.storage.slack.people.get({ team: 'T1', slackUser: 'U1' })).toBeNull();
});

test('with the secret of yesterday nothing is used up, and pages and log say what is wrong', async () => {
  acme.addUser('U4', { name: 'ally' });
  const { ts: threadTs } = await write({ by: 'U4', text: `${mention} hello` });
  const [browser, page] = await as('Alice', await linkFor('U4'));
  signIn.person = { team: 'T1', user: 'U4' };
  const { clientSecret } = signIn;
  signIn.clientSecret = 'of today';
  const refused = { status: 502, title: 'Slack does not accept this app' };
  expect(await browser.press(page, 'Continue with Slack')).toMatchObject(refused);
  const [operator, install] = await as('Bob', at('/slack/install'));
  expect(await operator.press(install, 'Add to Slack')).toMatchObject(refused);
  expect(log.filter((line) => line.includes('check SLACK_CLIENT_ID and SLACK_CLIENT_SECRET'))).toHaveLength(
    2,
  );
  expect(log.join()).toContain('bad_client_secret');
  // Once the processes have the new one, the same link works.
  signIn.clientSecret = clientSecret;
  const again = await browser.get(at('/slack/link'));
  expect((await browser.press(again, 'Continue with Slack')).text).toContain('acts as you now');
  await expect.poll(() => setup.asked({ threadTs, slackUser: 'U4' })).toEqual(['hello']);
});

test('a link is worth nothing in other hands, forged, replaced or expired', async () => {
  acme.addUser('U2');
  await write({ by: 'U2', text: `${mention} hello` });
  const link = await linkFor('U2');
  const nobody = () => setup.service.storage.slack.people.get({ team: 'T1', slackUser: 'U2' });
  // Mallory of the same workspace, and a user with the same id in another.
  for (const person of [
    { team: 'T1', user: 'U3' },
    { team: 'T2', user: 'U2' },
  ]) {
    const [browser, page] = await as('Bob', link);
    signIn.person = person;
    const refused = await browser.press(page, 'Continue with Slack');
    expect(refused).toMatchObject({ status: 403, title: 'You are another user in Slack' });
  }
  expect((await openBrowser().get(at(`/slack/link?t=${'x'.repeat(43)}`))).status).toBe(410);
  expect((await openBrowser().get(at('/slack/link'))).status).toBe(410);
  // A form of another page, and a callback without a flow.
  const [browser, page] = await as('Bob', link);
  expect((await browser.press(page, 'Continue with Slack', { csrf: 'forged' })).status).toBe(403);
  expect((await browser.get(at('/slack/link/callback?state=x&code=y'))).status).toBe(410);
  expect(await nobody()).toBeNull();

  const { tickets } = setup.service.storage.slack;
  await tickets.issue({ team: 'T1', slackUser: 'U2', purpose: 'link', digest: 'newer', expiresAt: 1 });
  expect((await browser.get(link)).status).toBe(410);
});

test('guests and people of other organisations are refused unless linked; bots are not heard', async () => {
  acme.addUser('UG', { isGuest: true });
  acme.addUser('UX', { teamId: 'T8' });
  acme.addUser('UB', { isBot: true });
  for (const by of ['UG', 'UX', 'UB']) await write({ by, text: `${mention} hello` });
  const said = (user: string) =>
    slack.until(({ args }) => args['user'] === user && args['text'] !== undefined);
  expect(String((await said('UG'))[0]?.args['text'])).toContain('members of this workspace');
  expect(String((await said('UX'))[0]?.args['text'])).toContain('members of this workspace only');
  await setup.link('UX', 'bob');
  const { ts: threadTs } = await write({ by: 'UX', text: `${mention} hello` });
  await expect.poll(() => setup.asked({ threadTs, slackUser: 'UX' })).toEqual(['hello']);
  const all = slack.calls.map(({ args }) => JSON.stringify(args));
  expect(all.filter((args) => args.includes('/slack/link?t=') && /"user":"U[GXB]"/.test(args))).toEqual([]);
});

test('an operator adds the app to another workspace, whose people are nobody’s of the first', async () => {
  const globex = slack.addWorkspace('T2', 'Globex');
  globex.addUser('U1');
  signIn.choose = globex;
  const hello = () => write({ by: 'U1', text: `<@${globex.botUser}> hello`, team: 'T2' });
  expect((await hello()).status).toBe(403);
  const [, refused] = await as('Alice', at('/slack/install'));
  expect(refused).toMatchObject({ status: 403, title: 'Only operators add the agent to Slack' });
  const [browser, page] = await as('Bob', at('/slack/install'));
  const added = await browser.press(page, 'Add to Slack');
  expect(added.text).toContain('Added to Globex');
  // Forwarded to another person, or used again, it does nothing.
  const authorize = added.path.find(({ pathname }) => pathname === '/oauth/v2/authorize');
  expect((await openBrowser().get(String(authorize))).status).toBe(400);
  expect((await browser.get(added.url)).status).toBe(400);
  expect(await comeBackTwice()).toEqual([200, 400]);
  const { installations } = setup.service.storage.slack;
  const installed = await installations.get('T2');
  expect(installed).toMatchObject({ tenant: 'demo', installedBy: 'bob' });
  expect(JSON.stringify(installed)).not.toContain(globex.botToken);

  await setup.link('U1', 'alice');
  const { ts: threadTs } = await hello();
  // The same id in another workspace is another person: they get a link of their own.
  await expect
    .poll(
      () => slack.calls.filter(({ workspace, args }) => workspace === globex && args['user'] === 'U1').length,
    )
    .toBeGreaterThan(1);
  expect(await setup.asked({ threadTs, slackUser: 'U1', team: 'T2' })).toEqual([]);
  await setup.link('U1', 'bob', 'T2');
  const { ts: bobs } = await hello();
  await expect.poll(() => setup.asked({ threadTs: bobs, slackUser: 'U1', team: 'T2' })).toEqual(['hello']);

  // Taken out of the workspace: only Slack’s word counts, not the event.
  const uninstalled = () => slack.sendEvent(at('/slack/events'), { type: 'app_uninstalled' }, { team: 'T2' });
  const asked = slack.calls.length;
  const since = (wanted: (call: MethodCall) => boolean) =>
    slack.until((call) => slack.calls.indexOf(call) >= asked && wanted(call));
  await uninstalled();
  await since(({ method }) => method === 'auth.test');
  // Its people are still heard.
  globex.addUser('UG', { isGuest: true });
  await write({ by: 'UG', text: `<@${globex.botUser}> hello`, team: 'T2' });
  await since(({ workspace, args }) => workspace === globex && args['user'] === 'UG' && 'text' in args);
  globex.botToken = 'revoked';
  await uninstalled();
  await expect.poll(() => installations.get('T2')).toBeNull();
  expect((await hello()).status).toBe(403);
});

/** A browser with the cookies of the installation comes back with its state twice. */
async function comeBackTwice(): Promise<number[]> {
  const browser = openBrowser({ stopAt: ({ pathname }) => pathname === '/slack/oauth/callback' });
  const page = await browser.press(await browser.get(at('/slack/install')), 'Continue as Bob');
  const { url } = await browser.press(page, 'Add to Slack');
  const cookie = await browser.cookies.getCookieString(url.href);
  const statuses: number[] = [];
  for (const _ of [1, 2]) statuses.push((await fetch(url, { headers: { cookie } })).status);
  return statuses;
}

/** What only they read after `/interlude …` in C7. */
async function run(user: string, text: string): Promise<string> {
  const fields = { team_id: 'T1', channel_id: 'C7', user_id: user, command: '/interlude', text };
  const sent = await slack.sendForm(at('/slack/commands'), fields);
  expect(sent.status).toBe(200);
  return (JSON.parse(sent.body) as { text: string }).text;
}

test('commands say who answers in a channel, which only admins choose, and end a link', async () => {
  acme.addUser('UA', { isAdmin: true });
  acme.addUser('UM');
  expect(await run('UA', '')).toContain('/interlude link');
  expect(await run('UA', 'agent researcher')).toContain('I do not know who you are yet');
  await setup.link('UA', 'alice');
  await setup.link('UM', 'bob');
  expect(await run('UM', 'agent researcher')).toContain('Only admins');
  expect(await run('UA', 'agent nobody')).toContain('There is no agent of this name');
  expect(await run('UA', 'agent researcher')).toContain('answered by Researcher');
  expect(await run('UM', 'agent')).toContain('Researcher answers here');
  const { ts: threadTs } = await write({ by: 'UM', channel: 'C7', text: `${mention} hello` });
  const thread = { team: 'T1', channel: 'C7', threadTs, slackUser: 'UM' };
  await expect.poll(() => setup.asked(thread)).toEqual(['hello']);
  expect(await setup.service.storage.slack.threads.get(thread)).toMatchObject({ agent: 'researcher' });
  expect(await run('UM', 'questions')).toContain('Nothing waits for you');
  expect(await run('UM', 'unlink')).toContain('I do not know you any more');
  expect(await run('UM', 'unlink')).toContain('I do not know who you are yet');
  expect((await slack.sendForm(at('/slack/commands'), { text: '' }, { signature: 'v0=00' })).status).toBe(
    401,
  );
});

test('a command brings a link to whoever wants one, and an admin sends one to somebody else', async () => {
  for (const id of ['UL', 'UN']) acme.addUser(id);
  acme.addUser('UB', { isAdmin: true });
  const asked = slack.calls.length;
  const links = () =>
    slack.calls
      .slice(asked)
      .filter(({ args }) => JSON.stringify(args).includes('/slack/link?t='))
      .map(({ method, args }) => [method, args['user'] ?? args['channel']]);
  expect(await run('UL', 'link')).toContain('Open the link that only you see here');
  expect(links()).toEqual([['chat.postEphemeral', 'UL']]);
  expect(await run('UL', 'link <@UN>')).toContain('I do not know who you are yet');
  await setup.link('UL', 'alice');
  expect(await run('UL', 'link <@UN>')).toContain('Only admins');
  await setup.link('UB', 'bob');
  expect(await run('UB', 'link <@UN|new>')).toContain('I have sent a link to <@UN>');
  expect(links()).toHaveLength(2);
  expect(links().at(-1)).toEqual(['chat.postMessage', 'DUN']);
});
