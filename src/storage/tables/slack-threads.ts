import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { SlackThread, SlackThreads, ThreadKey } from '../ports/slack.ts';
import type { Tables } from '../schema.ts';

export function createSlackThreads({ query }: Pick<Database, 'query'>): SlackThreads {
  const find = ({ team, channel, threadTs, slackUser }: ThreadKey) =>
    query
      .selectFrom('slack_threads')
      .selectAll()
      .where('team', '=', team)
      .where('channel', '=', channel)
      .where('thread_ts', '=', threadTs)
      .where('slack_user', '=', slackUser);
  return {
    async get(thread) {
      const row = await find(thread).executeTakeFirst();
      return row ? toThread(row) : null;
    },
    async begin(thread) {
      const { team, channel, threadTs, slackUser, tenant, conversation, agent } = thread;
      await query
        .insertInto('slack_threads')
        .values({ team, channel, thread_ts: threadTs, slack_user: slackUser, tenant, conversation, agent })
        .onConflict((same) => same.columns(['team', 'channel', 'thread_ts', 'slack_user']).doNothing())
        .execute();
      return toThread(await find(thread).executeTakeFirstOrThrow());
    },
    async remove({ team, channel, threadTs, slackUser }) {
      await query
        .deleteFrom('slack_threads')
        .where('team', '=', team)
        .where('channel', '=', channel)
        .where('thread_ts', '=', threadTs)
        .where('slack_user', '=', slackUser)
        .execute();
    },
    async ofConversation({ tenant, conversation }) {
      const row = await query
        .selectFrom('slack_threads')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('conversation', '=', conversation)
        .executeTakeFirst();
      return row ? toThread(row) : null;
    },
    async agentOf(team, channel) {
      const row = await query
        .selectFrom('slack_channels')
        .select('agent')
        .where('team', '=', team)
        .where('channel', '=', channel)
        .executeTakeFirst();
      return row?.agent ?? null;
    },
    async setAgent(team, channel, agent) {
      if (agent === null) {
        await query
          .deleteFrom('slack_channels')
          .where('team', '=', team)
          .where('channel', '=', channel)
          .execute();
        return;
      }
      await query
        .insertInto('slack_channels')
        .values({ team, channel, agent })
        .onConflict((same) => same.columns(['team', 'channel']).doUpdateSet({ agent }))
        .execute();
    },
  };
}

function toThread(row: Selectable<Tables['slack_threads']>): SlackThread {
  const { team, channel, thread_ts: threadTs, slack_user: slackUser, tenant, conversation, agent } = row;
  return { team, channel, threadTs, slackUser, tenant, conversation, agent };
}
