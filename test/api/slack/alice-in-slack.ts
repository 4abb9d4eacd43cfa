/** Alice in Slack: U1 of the workspace T1, who writes to the app by herself. For files that start their services themselves. */
import { expect, vi } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { addChat } from '../../servers/slack/chat.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';

/** A fake Slack with the workspace T1, in which U1 is. `env` is for the settings of the service. */
export async function startWorkspace() {
  const slack = await startSlackServer();
  const acme = slack.addWorkspace('T1', 'Acme');
  acme.addUser('U1');
  const env = { ...slack.env, SLACK_BOT_TOKEN: acme.botToken, SLACK_TENANT: 'demo' };
  return { slack, acme, chat: addChat(slack), env };
}

/** Once T1 is known, which the first API sees to. */
export async function linkAlice({ installations, people }: Storage['slack']): Promise<void> {
  const find = () => installations.get('T1');
  await vi.waitFor(async () => expect(await find()).not.toBeNull(), { timeout: 40_000 });
  await people.link({ team: 'T1', slackUser: 'U1', tenant: 'demo', user: 'alice', linkedAt: 1 });
}

/** A direct message; what it returns names its thread unless `threadTs` does. */
export async function writeAsAlice(
  slack: SlackServer,
  { baseUrl }: { baseUrl: string },
  text: string,
  threadTs?: string,
): Promise<string> {
  const ts = slack.nextTs();
  const event = {
    type: 'message',
    channel: 'DU1',
    channel_type: 'im',
    user: 'U1',
    text,
    ts,
    ...(threadTs !== undefined && { thread_ts: threadTs }),
  };
  const sent = await slack.sendEvent(`${baseUrl}/slack/events`, event, { team: 'T1' });
  expect(sent.status).toBe(200);
  return ts;
}
