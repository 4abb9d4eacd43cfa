/** Events that are no messages: a home that somebody opens, and the button with which they stop the agent. */
import { z } from 'zod';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { publishHome } from './home.ts';
import type { HomeService } from './home.ts';
import type { Handled, InboxEvent } from './inbox.ts';
import { notify } from './notice.ts';
import { stopInThread, stopWords } from './stop.ts';
import type { StopParts } from './stop.ts';

const id = z.string().min(1).max(100);
const homeOpenedSchema = z.object({ user: id, tab: z.literal('home') });
const stoppedSchema = z.object({ user: id, channel: id, thread_ts: id });

export type HandleOther = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createHomeOpened(parts: HomeService): HandleOther {
  return async ({ event }, workspace) => {
    const { data } = homeOpenedSchema.safeParse(event);
    if (data) await publishHome(parts, workspace, data.user);
    return { kind: 'done' };
  };
}

export function createSessionStopped(parts: StopParts): HandleOther {
  return async ({ event }, workspace) => {
    const { data } = stoppedSchema.safeParse(event);
    if (!data) return { kind: 'done' };
    const { user: slackUser, channel, thread_ts: threadTs } = data;
    const stopped = await stopInThread(parts, workspace, {
      team: workspace.team,
      channel,
      threadTs,
      slackUser,
    });
    // Where it is stopped, the thread says so.
    const place = { channel, threadTs, slackUser, isDirect: channel.startsWith('D') };
    if (stopped === 'not-theirs') await notify(workspace, place, stopWords[stopped]);
    return { kind: 'done' };
  };
}
