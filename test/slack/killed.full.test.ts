/**
 * Two APIs that Slack reaches alike: a thousand events at once, each sent to both, and an event whose process is killed
 * with -9 between the 200 and the turn. PostgreSQL, a Temporal of its own, processes of their own.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { showOutput } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import type { ServiceProcess } from '../e2e/processes.ts';
import { freePort } from '../free-port.ts';
import { MethodHttp } from '../servers/slack/methods.ts';
import type { Method } from '../servers/slack/methods.ts';
import type { SlackServer } from '../servers/slack/slack-server.ts';
import type { Workspace } from '../servers/slack/slack-state.ts';
import { createSlackDeployment } from './slack-deployment.ts';

let deployment: Deployment;
let slack: SlackServer;
let acme: Workspace;
let storage: Storage;
let here: ServiceProcess;
let there: ServiceProcess;
let other: { PORT: string; PUBLIC_URL: string };

beforeAll(async () => {
  ({ deployment, slack, acme, storage } = await createSlackDeployment());
  for (const method of ['chat.postMessage', 'chat.postEphemeral'])
    slack.methods.set(method, () => ({ ts: slack.nextTs() }));
  const port = String(await freePort());
  other = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  [here, there] = await Promise.all([
    deployment.start('server'),
    deployment.start('server', other),
    deployment.start('worker'),
  ]);
}, 120_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const urls = () => [deployment.baseUrl, other.PUBLIC_URL].map((base) => `${base}/slack/events`);

test(
  'a thousand events at once are acknowledged by either API, and each is handled once, also those that come again',
  { timeout: 60_000 },
  async () => {
    await expect.poll(() => storage.slack.installations.get('T1')).not.toBeNull();
    const users = Array.from({ length: 1_000 }, (_, index) => acme.addUser(`U${index}`).id);
    const event = (user: string) => ({
      type: 'message',
      channel: `D${user}`,
      channel_type: 'im',
      user,
      text: 'hello',
      ts: '1700000000.000001',
    });
    const sent = await Promise.all(
      users.map((user, index) => {
        const url = urls()[index % 2] ?? '';
        return slack.sendEvent(url, event(user), { team: 'T1', eventId: `Ev${user}` });
      }),
    );
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]));
    const again = users.slice(0, 200).map((user, index) => {
      const url = urls()[(index + 1) % 2] ?? '';
      return slack.sendEvent(url, event(user), { team: 'T1', eventId: `Ev${user}`, retry: 1 });
    });
    await Promise.all(again);
    const offers = await slack.until(({ method }) => method === 'chat.postMessage', users.length);
    const offered = () => offers.map(({ args }) => String(args['channel']));
    expect(new Set(offered()).size).toBe(users.length);
    // One that comes last is behind everything: nothing else was said.
    acme.addUser('UG', { isGuest: true });
    await slack.sendEvent(urls()[0] ?? '', { ...event('UG'), channel: 'DUG' }, { team: 'T1' });
    await slack.until(({ args }) => args['channel'] === 'DUG');
    expect(slack.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(users.length + 1);
  },
);

test(
  'an API is killed after it has acknowledged a message, and another one makes it a turn, once',
  { timeout: 60_000 },
  async () => {
    await storage.slack.people.link({
      team: 'T1',
      slackUser: 'U1',
      tenant: 'demo',
      user: 'alice',
      linkedAt: 1,
    });
    const asked = Promise.withResolvers<void>();
    const answering = slack.methods.get('users.info') as Method;
    // Slack is asked for a name, and does not answer while this API lives.
    slack.methods.set('users.info', async () => {
      asked.resolve();
      await new Promise(() => undefined);
      return new MethodHttp(500);
    });
    // So that the event is with the one that is killed.
    await there.kill('SIGKILL');
    const message = {
      type: 'app_mention',
      channel: 'C1',
      user: 'U1',
      text: `<@${acme.botUser}> greet <@U2>`,
      ts: '1700000001.000001',
    };
    const sent = await slack.sendEvent(urls()[0] ?? '', message, { team: 'T1', eventId: 'EvKilled' });
    expect(sent.status).toBe(200);
    await asked.promise;
    await here.kill('SIGKILL');
    slack.methods.set('users.info', answering);
    await deployment.start('server', other);
    // Slack never heard of the crash, or sends it again: it is the same.
    await slack.sendEvent(urls()[1] ?? '', message, { team: 'T1', eventId: 'EvKilled', retry: 1 });
    const thread = { team: 'T1', channel: 'C1', threadTs: '1700000001.000001', slackUser: 'U1' };
    const texts = async () => {
      const known = await storage.slack.threads.get(thread);
      const messages = known ? await storage.messages.list(known) : [];
      return messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
    };
    await expect.poll(texts, { timeout: 40_000 }).toEqual([expect.stringContaining('greet @u2')]);
  },
);
