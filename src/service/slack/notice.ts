/** Says something to one person only, where they wrote: as an ephemeral message, or in their direct messages with us. */
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { troubleOf } from '../../slack/client.ts';

export interface Place {
  channel: string;
  /** Null: in no thread. */
  threadTs: string | null;
  slackUser: string;
  isDirect: boolean;
}

/** False: Slack does not let us. Rejects where it may be tried again. */
export async function notify({ client }: SlackWorkspace, place: Place, text: string): Promise<boolean> {
  const { channel, threadTs, slackUser, isDirect } = place;
  const inThread = threadTs !== null && { thread_ts: threadTs };
  const sendDirect = (to: string, thread: typeof inThread) =>
    unlessRefused(() =>
      client.chat.postMessage({
        channel: to,
        ...thread,
        text,
        unfurl_links: false,
        unfurl_media: false,
      }),
    );
  if (isDirect) return sendDirect(channel, inThread);
  const isSaid = await unlessRefused(() =>
    client.chat.postEphemeral({ channel, user: slackUser, ...inThread, text }),
  );
  if (isSaid) return true;
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
