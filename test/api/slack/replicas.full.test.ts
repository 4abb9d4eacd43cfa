/**
 * Two APIs and two workers at once, and people of two workspaces: events go to either API, and come again at the other. What
 * one person writes in a thread is answered in its order, each once, and nothing reaches the other workspace.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { showOutput } from '../../e2e/deployment.ts';
import { freePort } from '../../free-port.ts';
import { linkAlice } from './alice-in-slack.ts';
import { addGlobex } from './globex.ts';
import { createSlackDeployment } from './slack-deployment.ts';
import type { SlackDeployment } from './slack-deployment.ts';

const threadsEach = 4;
const messagesEach = 4;

let setup: SlackDeployment;
let urls: string[];

beforeAll(async () => {
  setup = await createSlackDeployment();
  const { deployment, slack, storage } = setup;
  const port = String(await freePort());
  const other = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  urls = [deployment.baseUrl, other.PUBLIC_URL].map((base) => `${base}/slack/events`);
  await Promise.all([
    deployment.start('server'),
    deployment.start('server', other),
    deployment.start('worker'),
    deployment.start('worker'),
  ]);
  await linkAlice(storage.slack);
  await addGlobex(slack, storage.slack);
});
afterAll(() => setup.deployment.stop());
afterEach(showOutput(() => setup.deployment));

test('threads of two workspaces, each written in quickly and sent twice', { timeout: 180_000 }, async () => {
  const { slack, chat, storage } = setup;
  const threads = ['T1', 'T2'].flatMap((team) =>
    Array.from({ length: threadsEach }, (_, index) => ({
      team,
      channel: `D${team}${index}`,
      threadTs: slack.nextTs(),
    })),
  );
  const said = (team: string, thread: number) =>
    Array.from({ length: messagesEach }, (_, index) => `${team} thread ${thread} message ${index}`);
  for (let index = 0; index < messagesEach; index += 1)
    await Promise.all(
      threads.map(async ({ team, channel, threadTs }, thread) => {
        const event = {
          type: 'message',
          channel,
          channel_type: 'im',
          user: 'U1',
          text: said(team, thread)[index],
          ts: index === 0 ? threadTs : slack.nextTs(),
          ...(index > 0 && { thread_ts: threadTs }),
        };
        const eventId = `Ev${team}${thread}${index}`;
        const [here = '', there = ''] = (thread + index) % 2 === 0 ? urls : urls.toReversed();
        const sent = [
          await slack.sendEvent(here, event, { team, eventId }),
          await slack.sendEvent(there, event, { team, eventId, retry: 1 }),
        ];
        expect(sent.map(({ status }) => status)).toEqual([200, 200]);
      }),
    );
  for (const [thread, { team, channel, threadTs }] of threads.entries()) {
    const wanted = said(team, thread).map((text) => `You said: ${text}`);
    await expect
      .poll(() => chat.texts(channel, threadTs), { timeout: 90_000, interval: 200 })
      .toEqual(wanted);
    const known = await storage.slack.threads.get({ team, channel, threadTs, slackUser: 'U1' });
    const messages = known ? await storage.messages.list(known) : [];
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(messagesEach);
  }
  const posted = slack.calls.filter(({ method }) =>
    ['chat.startStream', 'chat.postMessage'].includes(method),
  );
  expect(posted.length).toBeGreaterThan(0);
  // Each workspace with its own token.
  for (const { args, workspace } of posted) expect(String(args['channel'])).toContain(workspace?.id);
});
