/** Slack says that tokens were revoked: only its own answer about ours ends an installation. */
import { expect, test } from 'vitest';
import { MethodHttp, MethodRefused } from '../../servers/slack/methods.ts';
import type { Method } from '../../servers/slack/methods.ts';
import { useSlackService } from './slack-service.ts';

const setup = await useSlackService();
const { slack, acme, write, chat } = setup;
acme.addUser('U1');
const testing = slack.methods.get('auth.test') as Method;

/** Resolves when the event is done with: the token was tried, and what came after it was taken. */
async function revoked(tokens: object): Promise<void> {
  const tried = () => slack.calls.filter(({ method }) => method === 'auth.test').length;
  const before = tried();
  const url = `${setup.service.baseUrl}/slack/events`;
  const sent = await slack.sendEvent(url, { type: 'tokens_revoked', tokens }, { team: 'T1' });
  expect(sent.status).toBe(200);
  await expect.poll(tried).toBe(before + 1);
}

async function isAnswered(text: string): Promise<void> {
  const { ts, status } = await write({ by: 'U1', text, channel: 'DU1' });
  expect(status).toBe(200);
  await expect.poll(() => chat.texts('DU1', ts)).toEqual([`You said: ${text}`]);
}

test('tokens_revoked: of a user, or while Slack does not know, nothing ends; of the bot, the workspace is forgotten', async () => {
  const { installations, people, threads } = setup.service.storage.slack;
  await setup.link('U1', 'alice');
  await isAnswered('before');
  await revoked({ oauth: ['U1'] });
  await isAnswered('a token of a person');
  for (const answer of [
    () => new MethodHttp(200, { 'content-type': 'text/html' }, '<html>Back soon</html>'),
    () => new MethodHttp(503),
    () => {
      throw new MethodRefused('internal_error');
    },
    () => {
      throw new MethodRefused('team_access_not_granted');
    },
  ]) {
    slack.methods.set('auth.test', answer);
    await revoked({ bot: [acme.botUser] });
  }
  await isAnswered('nobody knows');
  expect(await installations.get('T1')).not.toBeNull();

  slack.methods.set('auth.test', () => {
    throw new MethodRefused('token_revoked');
  });
  const { ts: threadTs } = await write({ by: 'U1', text: 'the last one', channel: 'DU1' });
  await expect.poll(() => chat.texts('DU1', threadTs)).toHaveLength(1);
  const thread = { team: 'T1', channel: 'DU1', threadTs, slackUser: 'U1' };
  const known = await threads.get(thread);
  await revoked({ bot: [acme.botUser] });
  await expect.poll(() => installations.get('T1')).toBeNull();
  expect(await people.get({ team: 'T1', slackUser: 'U1' })).toBeNull();
  expect(await threads.get(thread)).toBeNull();
  expect((await write({ by: 'U1', text: 'hello', channel: 'DU1' })).status).toBe(403);
  // The conversation stays its owner's.
  const conversation = { tenant: known?.tenant ?? '', conversation: known?.conversation ?? '' };
  expect(await setup.service.storage.messages.list(conversation)).not.toEqual([]);
  slack.methods.set('auth.test', testing);
});
