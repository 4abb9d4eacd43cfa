/** Slack at its busiest: how soon events are taken that come all at once, and how soon an answer begins in its thread. */
import { addChat } from '../test/servers/slack/chat.ts';
import { startSlackServer } from '../test/servers/slack/slack-server.ts';
import type { SlackServer } from '../test/servers/slack/slack-server.ts';
import { tenant } from './doubles/issuer.ts';
import { say } from './doubles/model.ts';
import type { Row, Section } from './report.ts';
import { breath, setUp, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

const team = 'T1';
const atOnce = 1_000;

export async function slack({ dependencies, client, samples }: BenchSetup): Promise<Section> {
  await using fake = await startSlackServer();
  const { botToken } = fake.addWorkspace(team);
  addChat(fake);
  const env = { ...dependencies.env, ...fake.env, SLACK_BOT_TOKEN: botToken, SLACK_TENANT: tenant };
  await using setup = await setUp({ ...dependencies, env }, client, samples);
  while (!(await setup.service.storage.slack.installations.get(team))) await breath();
  return {
    title: 'In Slack',
    rows: [await untilWordsAreShown(setup, fake), await acknowledging(setup, fake)],
  };
}

/** Each in a conversation of its own. */
async function untilWordsAreShown(
  { service, samples, newUser }: BenchSetup,
  fake: SlackServer,
): Promise<Row> {
  const inThread: number[] = [];
  const inStream: number[] = [];
  const user = await newUser();
  addPerson(fake, 'UASK');
  await service.storage.slack.people.link({
    team,
    slackUser: 'UASK',
    tenant,
    user: user.name,
    linkedAt: Date.now(),
  });
  for (let sample = 0; sample < samples; sample++) {
    await breath();
    const chat = await user.chat(say.talk);
    inStream.push(chat.firstText ?? NaN);
    await chat.rest();
    await breath();
    const ts = fake.nextTs();
    const isShown = ({ args }: { args: Record<string, unknown> }) =>
      args['thread_ts'] === ts && [args['markdown_text'], args['text']].some((words) => Boolean(words));
    inThread.push(
      await timed(async () => {
        await send(service.baseUrl, fake, 'UASK', say.talk, ts);
        await fake.until(isShown);
      }),
    );
  }
  return {
    name: 'first words / stream',
    meaning:
      'a direct message until Slack is told the first words, against POST /run/api/chat to the first text',
    ours: inThread,
    floor: inStream,
    unit: 'ms',
  };
}

/** From people whom nobody knows yet: each is kept, then offered a link. */
async function acknowledging({ service, floor }: BenchSetup, fake: SlackServer): Promise<Row> {
  const people = Array.from({ length: atOnce }, (_, index) => `U${index}`);
  for (const id of people) addPerson(fake, id);
  const bare = await Promise.all(people.map(() => timed(() => floor.echo())));
  const ours = await Promise.all(
    people.map((id) => timed(() => send(service.baseUrl, fake, id, 'hello', fake.nextTs()))),
  );
  await fake.until(({ args }) => JSON.stringify(args).includes('/slack/link?t='), atOnce);
  return {
    name: 'acknowledged / HTTP',
    meaning: `${atOnce} events in the same moment, each until it is kept and acknowledged, against as many bare round trips; none is lost`,
    ours,
    floor: bare,
    unit: 'ms',
  };
}

function addPerson(fake: SlackServer, id: string): void {
  fake.workspaces.get(team)?.addUser(id);
}

async function send(baseUrl: string, fake: SlackServer, user: string, text: string, ts: string) {
  const channel = `D${user}`;
  const event = { type: 'message', channel, channel_type: 'im', user, text, ts };
  const { status, body } = await fake.sendEvent(`${baseUrl}/slack/events`, event, { team });
  if (status !== 200) throw new Error(`/slack/events answered ${status}: ${body}`);
}
