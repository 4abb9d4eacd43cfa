/** Messages to one person: ephemeral in the channel where they wrote, or in their direct messages with us. */
import type { KnownBlock } from '@slack/types';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { troubleOf } from '../../remote/slack.ts';
import { wordsFor } from './context.ts';
import type { SlackContext } from './context.ts';

interface Place {
  /** Null: in their direct messages. */
  channel: string | null;
  /** Null: outside threads. */
  threadTs: string | null;
  slackUser: string;
  isDirect: boolean;
}

/** False: Slack refused. Rejects if it may be tried again. `blocks` are shown instead of the text. */
export async function notify(
  { client }: SlackWorkspace,
  { channel, threadTs, slackUser, isDirect }: Place,
  text: string,
  blocks?: KnownBlock[],
): Promise<boolean> {
  const inThread = threadTs !== null && { thread_ts: threadTs };
  const contents = { text, ...(blocks && { blocks }) };
  const sendDirect = (to: string, thread: typeof inThread) =>
    falseIfRefused(() =>
      client.chat.postMessage({
        channel: to,
        ...thread,
        ...contents,
        unfurl_links: false,
        unfurl_media: false,
      }),
    );
  if (channel !== null) {
    if (isDirect) return sendDirect(channel, inThread);
    const isSaid = await falseIfRefused(() =>
      client.chat.postEphemeral({ channel, user: slackUser, ...inThread, ...contents }),
    );
    if (isSaid) return true;
  }
  // Slack refuses ephemeral messages to people who are not in the channel.
  let direct: string | undefined;
  const isOpen = await falseIfRefused(async () => {
    direct = (await client.conversations.open({ users: slackUser })).channel?.id;
  });
  return isOpen && direct !== undefined && sendDirect(direct, false);
}

async function falseIfRefused(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (troubleOf(error).kind === 'refused') return false;
    throw error;
  }
}

/** Sends a link with which the person signs in. `again`: even if they just got one. Rejects if it may be tried again. */
export async function offerLink(
  { slack: { links }, http }: SlackContext,
  workspace: SlackWorkspace,
  place: Place,
  { again }: { again: boolean },
): Promise<void> {
  const token = await links.issue({ team: workspace.team, slackUser: place.slackUser }, again);
  if (token === null) return;
  try {
    const words = await wordsFor(workspace, place.slackUser);
    await notify(workspace, place, words.offer(`${http.publicUrl}/slack/link?t=${token}`));
  } catch (error) {
    await links.takeBack(token);
    throw error;
  }
}
