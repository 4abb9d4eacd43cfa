/** Events that are no messages: a home that somebody opens, and the button with which they stop the agent. */
import { z } from 'zod';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { Handled, InboxEvent } from '../../service/slack/inbox.ts';
import type { SlackContext } from './context.ts';
import { publishHome } from './home.ts';
import { notify } from './notice.ts';
import { stopWords } from './refusals.ts';

const id = z.string().min(1).max(100);
const homeOpenedSchema = z.object({ user: id, tab: z.literal('home') });
const stoppedSchema = z.object({ user: id, channel: id, thread_ts: id });

export type HandleOther = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createHomeOpened(context: SlackContext): HandleOther {
  return async ({ event }, workspace) => {
    const { data } = homeOpenedSchema.safeParse(event);
    if (data) await publishHome(context, workspace, data.user);
    return { kind: 'done' };
  };
}

export function createSessionStopped({ slack }: SlackContext): HandleOther {
  return async ({ event }, workspace) => {
    const { data } = stoppedSchema.safeParse(event);
    if (!data) return { kind: 'done' };
    const { user: slackUser, channel, thread_ts: threadTs } = data;
    const { team, tenant } = workspace;
    const stopped = await slack.stop.inThread(tenant, { team, channel, threadTs, slackUser });
    // Where it is stopped, the thread says so.
    const place = { channel, threadTs, slackUser, isDirect: channel.startsWith('D') };
    if (stopped === 'not-theirs') await notify(workspace, place, stopWords[stopped]);
    return { kind: 'done' };
  };
}
