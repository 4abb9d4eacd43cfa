/** Calls of Slack's API for one thread. Their errors contain nothing of what was sent. */
import type { KnownBlock } from '@slack/types';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { troubleOf } from '../../remote/slack.ts';
import type { SlackTrouble } from '../../remote/slack.ts';
import type { SlackDelivery } from '../../storage/tables/slack-deliveries.ts';
import type { SlackMessageRow } from '../../storage/schema/slack-tables.ts';

export class SlackCallFailed extends Error {
  override readonly name = 'SlackCallFailed';
  readonly trouble: SlackTrouble;

  constructor(method: string, trouble: SlackTrouble) {
    super(`${method}: ${trouble.kind === 'refused' ? trouble.code : trouble.kind}`);
    this.trouble = trouble;
  }
}

/** What a message shows. `blocks`: absent if it is only text. */
export interface Contents {
  text: string;
  blocks?: KnownBlock[];
}

interface SeenMessage {
  ts: string;
  text: string;
  isOurs: boolean;
  /** From the metadata of our messages; null if it has none. */
  number: number | null;
  turnId: string | null;
}

const eventType = 'interlude';
const mostPages = 20;

/** Slack's status of a thread with an agent in it. */
type SessionStatus = 'processing' | 'suspended' | 'active';

export type SlackCalls = ReturnType<typeof createSlackCalls>;

export function createSlackCalls(
  { client, botUser }: SlackWorkspace,
  { turn, team, channel, threadTs, slackUser }: SlackDelivery,
) {
  const metadataOf = ({ number }: Pick<SlackMessageRow, 'number'>) => ({
    event_type: eventType,
    event_payload: { turn: turn.turnId, number },
  });
  let madeAt = 0;
  async function called<T>(method: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw new SlackCallFailed(method, troubleOf(error));
    } finally {
      madeAt = Date.now();
    }
  }
  /** Returns the `ts` of the message. */
  async function placed(method: string, call: () => Promise<{ ts?: string }>): Promise<string> {
    const { ts } = await called(method, call);
    if (ts === undefined) throw new SlackCallFailed(method, { kind: 'unavailable' });
    return ts;
  }
  return {
    /** When the last call was made. */
    madeAt: () => madeAt,
    async post(row: SlackMessageRow, contents: Contents): Promise<string> {
      return placed('chat.postMessage', () =>
        client.chat.postMessage({
          channel,
          thread_ts: threadTs,
          metadata: metadataOf(row),
          unfurl_links: false,
          unfurl_media: false,
          text: contents.text,
          blocks: contents.blocks ?? [],
        }),
      );
    },
    async update(ts: string, row: SlackMessageRow, contents: Contents): Promise<void> {
      await called('chat.update', () =>
        client.chat.update({
          channel,
          ts,
          metadata: metadataOf(row),
          // By default Slack turns names and addresses into links in edited messages, unlike in posted ones.
          parse: 'none',
          link_names: false,
          text: contents.text,
          blocks: contents.blocks ?? [],
        }),
      );
    },
    async remove(ts: string): Promise<void> {
      await called('chat.delete', () => client.chat.delete({ channel, ts }));
    },
    async startStream(markdown: string): Promise<string> {
      return placed('chat.startStream', () =>
        client.chat.startStream({
          channel,
          thread_ts: threadTs,
          markdown_text: markdown,
          ...(!channel.startsWith('D') && { recipient_team_id: team, recipient_user_id: slackUser }),
        }),
      );
    },
    async appendStream(ts: string, markdown: string): Promise<void> {
      await called('chat.appendStream', () =>
        client.chat.appendStream({ channel, ts, markdown_text: markdown }),
      );
    },
    async stopStream(ts: string, row: SlackMessageRow, markdown: string): Promise<void> {
      await called('chat.stopStream', () =>
        client.chat.stopStream({
          channel,
          ts,
          metadata: metadataOf(row),
          ...(markdown !== '' && { markdown_text: markdown }),
        }),
      );
    },
    async setStatus(status: string): Promise<void> {
      await called('assistant.threads.setStatus', () =>
        client.assistant.threads.setStatus({ channel_id: channel, thread_ts: threadTs, status }),
      );
    },
    /** Only works for apps that are agents for Slack. `processing` shows a button that stops the agent. */
    async setSession(status: SessionStatus): Promise<void> {
      await called('agents.sessions.setStatus', () =>
        client.agents.sessions.setStatus({ channel_id: channel, thread_ts: threadTs, status }),
      );
    },
    /** The messages in the thread since then. */
    async readBack(sinceMs: number): Promise<SeenMessage[]> {
      const seen: SeenMessage[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < mostPages; page += 1) {
        const read = await called('conversations.replies', () =>
          client.conversations.replies({
            channel,
            ts: threadTs,
            oldest: String(sinceMs / 1000),
            include_all_metadata: true,
            limit: 200,
            ...(cursor !== undefined && { cursor }),
          }),
        );
        for (const message of read.messages ?? []) {
          const { metadata } = message as { metadata?: { event_type?: string; event_payload?: object } };
          const payload: { turn?: unknown; number?: unknown } =
            metadata?.event_type === eventType ? (metadata.event_payload ?? {}) : {};
          seen.push({
            ts: message.ts ?? '',
            text: message.text ?? '',
            isOurs: message.user === botUser,
            number: typeof payload.number === 'number' ? payload.number : null,
            turnId: typeof payload.turn === 'string' ? payload.turn : null,
          });
        }
        cursor = read.response_metadata?.next_cursor;
        if (cursor === undefined || cursor === '') break;
      }
      return seen;
    },
  };
}
