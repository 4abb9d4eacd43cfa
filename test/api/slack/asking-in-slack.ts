/** Slack, the service, and one server that plays what a test puts on, for questions that are answered in Slack's windows. */
import { afterAll, beforeAll, expect } from 'vitest';
import { roundsAgents } from '../../asking/asking-service.ts';
import type { ChatMessage } from '../../servers/slack/chat.ts';
import type { Sent } from '../../servers/slack/deliver.ts';
import type { Entered } from '../../servers/slack/entered.ts';
import { addViews, buttonsOf } from '../../servers/slack/views.ts';
import type { OpenWindow, Press, Submit, Views } from '../../servers/slack/views.ts';
import { asks, form, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedReply, ScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import { callOf } from '../../service/asking.ts';
import { createAnswers } from './answers.ts';
import { noSignIn, useSlackService } from './slack-service.ts';
import type { SlackService, SlackServiceOptions } from './slack-service.ts';

/** One question, `trip`, with one field. */
export const asksForCity = (message = 'Which city?') => [
  asks({
    trip: form(
      message,
      { city: { type: 'string', pattern: '^[A-Z][a-z]+$', title: 'City' } },
      { required: ['city'] },
    ),
  }),
];

export const answerForTrip = ({ calls }: ScriptedMcpServer) => calls.at(-1)?.params.inputResponses?.['trip'];

export interface SlackAsking extends SlackService, ReturnType<typeof createAnswers> {
  views: Views;
  server: ScriptedMcpServer;
  /** A person (U1 by default) has the tool `ask` called in a new thread; its server gives these replies. */
  begin(moves: ScriptedReply[], more?: { by?: string; text?: string; channel?: string }): Promise<Asked>;
  press(press: Press): Promise<Sent>;
  /** The window that opens for this press. */
  openWindow(press: Press): Promise<OpenWindow>;
  /** The modal of its nth question, opened by the asked person. */
  opened(asked: Asked, n?: number): Promise<OpenWindow & { elicitationId: string }>;
  submit(window: OpenWindow, entered?: Entered, more?: Submit): Promise<Sent>;
  /** The messages that only this person sees, in order. */
  whispered(to: string): string[];
  statusOf(elicitationId: string): Promise<string | undefined>;
}

export interface Asked {
  ts: string;
  /** The nth message with buttons (from 0), as it was shown first. */
  question(n?: number): Promise<{ message: ChatMessage; elicitationId: string }>;
  /** What the thread says when all is shown. */
  end(): Promise<string[]>;
}

/** U1 is alice, U2 is bob, U3 is not linked. */
export async function useAskingInSlack({ env, ...options }: SlackServiceOptions = {}): Promise<SlackAsking> {
  const server = await startScriptedMcpServer();
  afterAll(() => server.stop());
  let views: Views | undefined;
  const setup = await useSlackService({
    ...options,
    env: { INTERLUDE_CONFIG: roundsAgents, ASKING_URL: server.url, ...env },
    prepareSlack(slack) {
      views = addViews(slack);
      return noSignIn;
    },
  });
  const { slack, acme, chat, write } = setup;
  for (const user of ['U1', 'U2', 'U3']) acme.addUser(user);
  beforeAll(async () => {
    await setup.link('U1', 'alice');
    await setup.link('U2', 'bob');
  });
  const answers = createAnswers(setup);
  const url = () => `${setup.service.baseUrl}/slack/interactivity`;
  const used = views as Views;

  async function begin(
    ...[moves, { by = 'U1', text = callOf(['ask', {}]), channel = 'C1' } = {}]: Parameters<
      SlackAsking['begin']
    >
  ): Promise<Asked> {
    server.play(...moves);
    const { ts } = await write({ by, channel, text: `<@${acme.botUser}> ${text}` });
    const seen: ChatMessage[] = [];
    const look = () => {
      for (const message of chat.thread(channel, ts)) {
        if (buttonsOf(message).length === 0 || seen.some((known) => known.ts === message.ts)) continue;
        seen.push(structuredClone(message));
      }
      return seen.length;
    };
    return {
      ts,
      async question(n = 0) {
        await expect.poll(look).toBeGreaterThan(n);
        const message = seen[n] as ChatMessage;
        return { message, elicitationId: buttonsOf(message)[0]?.value ?? '' };
      },
      async end() {
        const delivery = await answers.deliveryOf(ts, channel);
        expect(await delivery.result()).toEqual({ status: 'delivered' });
        return chat.texts(channel, ts);
      },
    };
  }

  const press: SlackAsking['press'] = (given) => used.press(url(), given);
  async function openWindow(given: Press): Promise<OpenWindow> {
    const before = used.opened.length;
    expect((await press(given)).status).toBe(200);
    await expect.poll(() => used.opened.length).toBe(before + 1);
    return used.opened[before] as OpenWindow;
  }
  return Object.assign(setup, answers, {
    views: used,
    server,
    begin,
    press,
    openWindow,
    async opened(asked: Asked, n = 0) {
      const { message, elicitationId } = await asked.question(n);
      const [look] = buttonsOf(message);
      const window = await openWindow({ by: 'U1', button: look?.text.text ?? '', message });
      return Object.assign(window, { elicitationId });
    },
    submit: (window: OpenWindow, entered?: Entered, more?: Submit) =>
      used.submit(url(), window, entered, more),
    whispered: (to: string) =>
      slack.calls
        .filter(({ method, args }) => method === 'chat.postEphemeral' && args['user'] === to)
        .map(({ args }) => String(args['text'])),
    statusOf: async (elicitationId: string) =>
      (await setup.service.storage.elicitations.get(elicitationId))?.status,
  });
}

/** Where an answer takes longer than Slack waits, and where its turn takes longer than that. */
export const taken = /Your answer is (?:there|on record)\./;

/** Sent, and done with. */
export async function untilTaken(window: OpenWindow): Promise<void> {
  await expect.poll(() => !window.isOpen || taken.test(said(window))).toBe(true);
}

/** What it comes to say. */
export async function untilSaid(window: OpenWindow, words: string | RegExp): Promise<void> {
  await expect.poll(() => said(window)).toMatch(words);
}

export const said = (window: Pick<OpenWindow, 'view'>) => JSON.stringify(window.view);
