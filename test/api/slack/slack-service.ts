/** The service with a Slack app in the workspace T1, and a fake Slack around it; both live as long as the test file. */
import { afterAll, vi } from 'vitest';
import { addChat } from '../../servers/slack/chat.ts';
import type { Chat } from '../../servers/slack/chat.ts';
import type { Workspace } from '../../servers/slack/slack-state.ts';
import { nextTs } from '../../servers/slack/slack-state.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackSignIn } from '../../servers/slack/sign-in.ts';
import type { Sent } from '../../servers/slack/deliver.ts';
import { useService } from '../../service/use-service.ts';
import type { UsedService, UseServiceOptions } from '../../service/use-service.ts';

export interface SlackService extends UsedService {
  slack: SlackServer;
  acme: Workspace;
  chat: Chat;
  signIn: SlackSignIn;
  /** Links a Slack user of T1 to a user of the service. */
  link(slackUser: string, user: string, team?: string): Promise<void>;
  /** Something is written in T1, and Slack sends it. */
  write(message: Written): Promise<Sent & { ts: string }>;
  /** What this person has asked in the thread until now, each as a turn. */
  asked(thread: Thread): Promise<string[]>;
}

/** Of T1 and C1 unless it says otherwise. */
export interface Thread {
  threadTs: string;
  slackUser: string;
  channel?: string;
  team?: string;
}

export interface Written {
  by: string;
  text: string;
  channel?: string;
  threadTs?: string;
  ts?: string;
  team?: string;
  /** Default: by the channel, where `D…` is a direct message. */
  type?: 'message' | 'app_mention';
  eventId?: string;
  more?: Record<string, unknown>;
}

export const noSignIn: SlackSignIn = {
  clientId: '',
  clientSecret: '',
  env: {},
  person: { team: '', user: '' },
  choose: null,
};

export interface SlackServiceOptions extends UseServiceOptions {
  /** Adds to the fake, and to the settings of the service. */
  prepareSlack?: (slack: SlackServer) => SlackSignIn;
}

export async function useSlackService({
  prepareSlack,
  ...options
}: SlackServiceOptions = {}): Promise<SlackService> {
  const slack = await startSlackServer();
  const acme = slack.addWorkspace('T1', 'Acme');
  const chat = addChat(slack);
  const signIn = prepareSlack?.(slack) ?? noSignIn;
  const setup = {} as SlackService;
  useService({
    ...options,
    into: setup,
    env: {
      ...slack.env,
      SLACK_BOT_TOKEN: acme.botToken,
      SLACK_TENANT: 'demo',
      ...signIn.env,
      ...options.env,
    },
    prepare: () =>
      vi.waitFor(
        async () => {
          if (!(await setup.service.storage.slack.installations.get('T1'))) throw new Error('not installed');
        },
        { timeout: 40_000 },
      ),
  });
  afterAll(() => slack[Symbol.asyncDispose]());
  return Object.assign(setup, {
    slack,
    acme,
    chat,
    signIn,
    link: (slackUser: string, user: string, team = 'T1') =>
      setup.service.storage.slack.people.link({ team, slackUser, tenant: 'demo', user, linkedAt: 1 }),
    async write(written: Written) {
      const { by, text, channel = 'C1', threadTs, ts = nextTs(), team = 'T1', more, eventId } = written;
      const isDirect = channel.startsWith('D');
      const event = {
        type: written.type ?? (isDirect ? 'message' : 'app_mention'),
        channel,
        channel_type: isDirect ? 'im' : 'channel',
        user: by,
        text,
        ts,
        ...(threadTs !== undefined && { thread_ts: threadTs }),
        ...more,
      };
      const url = `${setup.service.baseUrl}/slack/events`;
      const sent = await slack.sendEvent(url, event, { team, ...(eventId !== undefined && { eventId }) });
      return { ...sent, ts };
    },
    asked: (thread: Thread) => messagesIn(setup, thread),
  });
}

async function messagesIn({ service }: SlackService, thread: Thread): Promise<string[]> {
  const known = await service.storage.slack.threads.get({
    team: 'T1',
    channel: 'C1',
    ...thread,
  });
  if (!known) return [];
  const { tenant, conversation } = known;
  const messages = await service.storage.messages.list({ tenant, conversation });
  return messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('');
}
