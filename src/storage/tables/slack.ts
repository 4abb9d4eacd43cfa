/** What a Slack app has to remember: workspaces, events, linked people, and where they talk. */
import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import { createSlackDeliveries } from './slack-deliveries.ts';
import { createSlackEvents } from './slack-events.ts';
import type { Tables } from '../schema.ts';
import type { SlackTicket, SlackPerson } from '../schema/slack-tables.ts';

/** One workspace in which the app is installed. */
export interface SlackInstallation {
  team: string;
  teamName: string;
  tenant: string;
  /** The app's user there: messages that mention it are for the app. */
  botUser: string;
  scopes: string;
  /** The user who installed it; null: the environment did. */
  installedBy: string | null;
  /** The bot's token. */
  sealed: string;
}

export interface LinkedPerson extends SlackPerson {
  tenant: string;
  user: string;
  linkedAt: number;
}

export interface ThreadKey extends SlackPerson {
  channel: string;
  threadTs: string;
}

export interface SlackThread extends ThreadKey {
  tenant: string;
  conversation: string;
  agent: string;
}

export function createSlackTables(database: Database) {
  return {
    installations: createSlackInstallations(database),
    events: createSlackEvents(database),
    people: createSlackPeople(database),
    tickets: createSlackTickets(database),
    threads: createSlackThreads(database),
    deliveries: createSlackDeliveries(database),
    questions: createSlackQuestions(database),
  };
}

/** Everything that belongs to a workspace. */
const tablesOfTeam = [
  'slack_events',
  'slack_users',
  'slack_tickets',
  'slack_threads',
  'slack_channels',
  'slack_deliveries',
  'slack_messages',
] as const;

function createSlackInstallations({ query }: Database) {
  return {
    /** Replaces an earlier one of this workspace. */
    async put(installation: SlackInstallation): Promise<void> {
      const { team, teamName, tenant, botUser, scopes, installedBy, sealed } = installation;
      const values = {
        team_name: teamName,
        tenant,
        bot_user: botUser,
        scopes,
        installed_by: installedBy,
        sealed,
      };
      await query
        .insertInto('slack_installations')
        .values({ team, ...values })
        .onConflict((same) => same.column('team').doUpdateSet(values))
        .execute();
    },
    async get(team: string): Promise<SlackInstallation | null> {
      const row = await query
        .selectFrom('slack_installations')
        .selectAll()
        .where('team', '=', team)
        .executeTakeFirst();
      return row ? toInstallation(row) : null;
    },
    /** With everything that belongs to it. */
    async remove(team: string): Promise<void> {
      await query.transaction().execute(async (write) => {
        await write.deleteFrom('slack_installations').where('team', '=', team).execute();
        for (const table of tablesOfTeam) await write.deleteFrom(table).where('team', '=', team).execute();
      });
    },
    /** Sorted by name. */
    async list(tenant: string): Promise<SlackInstallation[]> {
      const rows = await query
        .selectFrom('slack_installations')
        .selectAll()
        .where('tenant', '=', tenant)
        .orderBy('team_name')
        .orderBy('team')
        .execute();
      return rows.map(toInstallation);
    },
  };
}

function toInstallation(row: Selectable<Tables['slack_installations']>): SlackInstallation {
  const { team, team_name: teamName, tenant, bot_user: botUser, scopes, installed_by, sealed } = row;
  return { team, teamName, tenant, botUser, scopes, installedBy: installed_by, sealed };
}

function createSlackPeople({ query }: Database) {
  return {
    async get({ team, slackUser }: SlackPerson): Promise<LinkedPerson | null> {
      const row = await query
        .selectFrom('slack_users')
        .selectAll()
        .where('team', '=', team)
        .where('slack_user', '=', slackUser)
        .executeTakeFirst();
      return row ? toPerson(row) : null;
    },
    /** Replaces an earlier one. */
    async link({ team, slackUser, tenant, user, linkedAt }: LinkedPerson): Promise<void> {
      const values = { tenant, user_id: user, linked_at: linkedAt };
      await query
        .insertInto('slack_users')
        .values({ team, slack_user: slackUser, ...values })
        .onConflict((same) => same.columns(['team', 'slack_user']).doUpdateSet(values))
        .execute();
    },
    /** Also deletes their threads: the next linked user may be another person. */
    async unlink({ team, slackUser }: SlackPerson): Promise<void> {
      await query.transaction().execute(async (write) => {
        for (const table of ['slack_users', 'slack_threads'] as const)
          await write
            .deleteFrom(table)
            .where('team', '=', team)
            .where('slack_user', '=', slackUser)
            .execute();
      });
    },
    async ofUser({ tenant, user }: { tenant: string; user: string }): Promise<LinkedPerson[]> {
      const rows = await query
        .selectFrom('slack_users')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('user_id', '=', user)
        .orderBy('team')
        .orderBy('slack_user')
        .execute();
      return rows.map(toPerson);
    },
  };
}

function toPerson(row: Selectable<Tables['slack_users']>): LinkedPerson {
  const { team, slack_user: slackUser, tenant, user_id: user, linked_at: linkedAt } = row;
  return { team, slackUser, tenant, user, linkedAt };
}

/** Single-use tokens that people come back with. Only their digests are kept. */
function createSlackTickets({ query, now }: Database) {
  return {
    /** Ends earlier ones for the same purpose and person. */
    issue: ({ digest, purpose, team, slackUser, expiresAt }: SlackTicket): Promise<void> =>
      query.transaction().execute(async (write) => {
        await write.deleteFrom('slack_tickets').where('expires_at', '<', now()).execute();
        if (slackUser !== '')
          await write
            .deleteFrom('slack_tickets')
            .where('purpose', '=', purpose)
            .where('team', '=', team)
            .where('slack_user', '=', slackUser)
            .execute();
        await write
          .insertInto('slack_tickets')
          .values({ digest, purpose, team, slack_user: slackUser, expires_at: expiresAt })
          .execute();
      }),
    /** Null when it was used, replaced, or is too old. */
    async find(digest: string, purpose: SlackTicket['purpose']): Promise<SlackTicket | null> {
      const row = await query
        .selectFrom('slack_tickets')
        .selectAll()
        .where('digest', '=', digest)
        .where('purpose', '=', purpose)
        .where('expires_at', '>=', now())
        .executeTakeFirst();
      if (!row) return null;
      return { digest, purpose, team: row.team, slackUser: row.slack_user, expiresAt: row.expires_at };
    },
    /** True for one caller only. */
    async use(digest: string): Promise<boolean> {
      const row = await query
        .deleteFrom('slack_tickets')
        .where('digest', '=', digest)
        .where('expires_at', '>=', now())
        .returning('digest')
        .executeTakeFirst();
      return row !== undefined;
    },
    /** The expiry of the person's newest one; null: none. */
    async until({ team, slackUser }: SlackPerson): Promise<number | null> {
      const row = await query
        .selectFrom('slack_tickets')
        .select('expires_at')
        .where('purpose', '=', 'link')
        .where('team', '=', team)
        .where('slack_user', '=', slackUser)
        .where('expires_at', '>=', now())
        .executeTakeFirst();
      return row?.expires_at ?? null;
    },
  };
}

function createSlackThreads({ query }: Database) {
  const find = ({ team, channel, threadTs, slackUser }: ThreadKey) =>
    query
      .selectFrom('slack_threads')
      .selectAll()
      .where('team', '=', team)
      .where('channel', '=', channel)
      .where('thread_ts', '=', threadTs)
      .where('slack_user', '=', slackUser);
  return {
    /** The person's conversation there; null: none. */
    async get(thread: ThreadKey): Promise<SlackThread | null> {
      const row = await find(thread).executeTakeFirst();
      return row ? toThread(row) : null;
    },
    /** Returns the existing one if there is one. */
    async begin(thread: SlackThread): Promise<SlackThread> {
      const { team, channel, threadTs, slackUser, tenant, conversation, agent } = thread;
      await query
        .insertInto('slack_threads')
        .values({ team, channel, thread_ts: threadTs, slack_user: slackUser, tenant, conversation, agent })
        .onConflict((same) => same.columns(['team', 'channel', 'thread_ts', 'slack_user']).doNothing())
        .execute();
      return toThread(await find(thread).executeTakeFirstOrThrow());
    },
    async remove({ team, channel, threadTs, slackUser }: ThreadKey): Promise<void> {
      await query
        .deleteFrom('slack_threads')
        .where('team', '=', team)
        .where('channel', '=', channel)
        .where('thread_ts', '=', threadTs)
        .where('slack_user', '=', slackUser)
        .execute();
    },
    /** Where a conversation is shown; null: not in Slack. */
    async ofConversation({
      tenant,
      conversation,
    }: {
      tenant: string;
      conversation: string;
    }): Promise<SlackThread | null> {
      const row = await query
        .selectFrom('slack_threads')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('conversation', '=', conversation)
        .executeTakeFirst();
      return row ? toThread(row) : null;
    },
    async agentOf(team: string, channel: string): Promise<string | null> {
      const row = await query
        .selectFrom('slack_channels')
        .select('agent')
        .where('team', '=', team)
        .where('channel', '=', channel)
        .executeTakeFirst();
      return row?.agent ?? null;
    },
    /** Null: the default agent. */
    async setAgent(team: string, channel: string, agent: string | null): Promise<void> {
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

export type SlackQuestions = ReturnType<typeof createSlackQuestions>;

export function createSlackQuestions({ query }: Database) {
  return {
    /**
     * Whether it was settled neither in Slack nor on the page to which Slack had sent the person. Also false if no one
     * answered, or that is unknown.
     */
    async wasSettledElsewhere(elicitationId: string): Promise<boolean> {
      const row = await query
        .selectFrom('elicitations')
        .leftJoin('elicitation_answers', (join) =>
          join
            .onRef('elicitation_answers.elicitation_id', '=', 'elicitations.id')
            .onRef('elicitation_answers.response_id', '=', 'elicitations.response_id'),
        )
        .select(['elicitations.status', 'elicitations.response_id', 'elicitation_answers.surface'])
        .where('elicitations.id', '=', elicitationId)
        .executeTakeFirst();
      if (!row) return false;
      // An account that was connected needs no answer.
      const isFact = row.status === 'accept' && row.response_id === null;
      if (row.surface !== 'other' && !isFact) return false;
      const opened = await query
        .selectFrom('audit')
        .select('id')
        .where('elicitation_id', '=', elicitationId)
        .where('action', '=', 'opened')
        .executeTakeFirst();
      return opened === undefined;
    },
  };
}
