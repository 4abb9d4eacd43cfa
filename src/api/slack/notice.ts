/** Says something to one person only, where they wrote: as an ephemeral message, or in their direct messages with us. */
import type { KnownBlock } from '@slack/types';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { troubleOf } from '../../slack/client.ts';

export interface Place {
  /** Null: nowhere in particular, so in their direct messages. */
  channel: string | null;
  /** Null: in no thread. */
  threadTs: string | null;
  slackUser: string;
  isDirect: boolean;
}

/** False: Slack does not let us. Rejects where it may be tried again. `blocks`: shown in place of the text. */
export async function notify(
  { client }: SlackWorkspace,
  { channel, threadTs, slackUser, isDirect }: Place,
  text: string,
  blocks?: KnownBlock[],
): Promise<boolean> {
  const inThread = threadTs !== null && { thread_ts: threadTs };
  const contents = { text, ...(blocks && { blocks }) };
  const sendDirect = (to: string, thread: typeof inThread) =>
    unlessRefused(() =>
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
    const isSaid = await unlessRefused(() =>
      client.chat.postEphemeral({ channel, user: slackUser, ...inThread, ...contents }),
    );
    if (isSaid) return true;
  }
  // Who is not in the channel cannot be spoken to there.
  let direct: string | undefined;
  const isOpen = await unlessRefused(async () => {
    direct = (await client.conversations.open({ users: slackUser })).channel?.id;
  });
  return isOpen && direct !== undefined && sendDirect(direct, false);
}

async function unlessRefused(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (troubleOf(error).kind === 'refused') return false;
    throw error;
  }
}
