/** What a Slack app has to remember: workspaces, events, linked people, and where they talk. */
import { fromColumns, toColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import type { Database } from '../database.ts';
import { deleteRows, findRow, findRows, insertNew, upsert } from '../statements.ts';
import type { Row } from '../schema.ts';
import { createSlackDeliveries } from './slack-deliveries.ts';
import { createSlackEvents } from './slack-events.ts';
import type { SlackPerson } from '../schema/slack-tables.ts';

export type SlackInstallation = Fields<Row<'slack_installations'>>;
export type LinkedPerson = Fields<Row<'slack_users'>>;
export type SlackThread = Fields<Row<'slack_threads'>>;
export type ThreadKey = Pick<SlackThread, 'team' | 'channel' | 'threadTs' | 'slackUser'>;
type SlackTicket = Fields<Row<'slack_tickets'>>;

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
  'slack_installations',
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
    put({ team, ...installation }: SlackInstallation): Promise<void> {
      return upsert(query, 'slack_installations', { team }, toColumns(installation));
    },
    async get(team: string): Promise<SlackInstallation | null> {
      const row = await findRow(query, 'slack_installations', { team });
      return row ? fromColumns(row) : null;
    },
    /** With everything that belongs to it. */
    async remove(team: string): Promise<void> {
      await query.transaction().execute(async (write) => {
        for (const table of tablesOfTeam) await deleteRows(write, table, { team });
      });
    },
    /** Sorted by name. Without a tenant, those of all. */
    async list(tenant?: string): Promise<SlackInstallation[]> {
      const of = tenant === undefined ? {} : { tenant };
      const rows = await findRows(query, 'slack_installations', of, 'team_name', 'team');
      return rows.map(fromColumns);
    },
  };
}

function createSlackPeople({ query }: Database) {
  return {
    async get({ team, slackUser }: SlackPerson): Promise<LinkedPerson | null> {
      const row = await findRow(query, 'slack_users', { team, slack_user: slackUser });
      return row ? fromColumns(row) : null;
    },
    /** Replaces an earlier one. */
    link({ team, slackUser, ...account }: LinkedPerson): Promise<void> {
      return upsert(query, 'slack_users', { team, slack_user: slackUser }, toColumns(account));
    },
    /** Also deletes their threads: the next linked user may be another person. */
    async unlink({ team, slackUser }: SlackPerson): Promise<void> {
      await query.transaction().execute(async (write) => {
        await deleteRows(write, 'slack_users', { team, slack_user: slackUser });
        await deleteRows(write, 'slack_threads', { team, slack_user: slackUser });
      });
    },
    async ofUser({ tenant, user }: { tenant: string; user: string }): Promise<LinkedPerson[]> {
      const rows = await findRows(query, 'slack_users', { tenant, user_id: user }, 'team', 'slack_user');
      return rows.map(fromColumns);
    },
  };
}

/** Single-use tokens that people come back with. Only their digests are kept. */
function createSlackTickets({ query, now }: Database) {
  const unexpired = () => query.selectFrom('slack_tickets').selectAll().where('expires_at', '>=', now());

  return {
    /** Ends earlier ones for the same purpose and person. */
    issue: (ticket: SlackTicket): Promise<void> =>
      query.transaction().execute(async (write) => {
        const { purpose, team, slackUser } = ticket;
        if (slackUser !== '')
          await deleteRows(write, 'slack_tickets', { purpose, team, slack_user: slackUser });
        await write.insertInto('slack_tickets').values(toColumns(ticket)).execute();
      }),
    /** Null when it was used, replaced, or is too old. */
    async find(digest: string, purpose: SlackTicket['purpose']): Promise<SlackTicket | null> {
      const row = await unexpired()
        .where(({ and }) => and({ digest, purpose }))
        .executeTakeFirst();
      return row ? fromColumns(row) : null;
    },
    /** True for one caller only. */
    async use(digest: string): Promise<boolean> {
      const { numDeletedRows } = await query
        .deleteFrom('slack_tickets')
        .where('digest', '=', digest)
        .where('expires_at', '>=', now())
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    /** The expiry of the person's newest one; null: none. */
    async until({ team, slackUser }: SlackPerson): Promise<number | null> {
      const row = await unexpired()
        .where(({ and }) => and({ purpose: 'link', team, slack_user: slackUser }))
        .executeTakeFirst();
      return row?.expires_at ?? null;
    },
  };
}

function createSlackThreads({ query }: Database) {
  const keyOf = ({ team, channel, threadTs, slackUser }: ThreadKey) =>
    toColumns({ team, channel, threadTs, slackUser });

  async function get(thread: ThreadKey): Promise<SlackThread | null> {
    const row = await findRow(query, 'slack_threads', keyOf(thread));
    return row ? fromColumns(row) : null;
  }

  return {
    /** The person's conversation there; null: none. */
    get,
    /** Returns the existing one if there is one. */
    async begin(thread: SlackThread): Promise<SlackThread> {
      await insertNew(query, 'slack_threads', toColumns(thread), [
        'team',
        'channel',
        'thread_ts',
        'slack_user',
      ]);
      return (await get(thread)) ?? thread;
    },
    async remove(thread: ThreadKey): Promise<void> {
      await deleteRows(query, 'slack_threads', keyOf(thread));
    },
    /** Where a conversation is shown; null: not in Slack. */
    async ofConversation({
      tenant,
      conversation,
    }: {
      tenant: string;
      conversation: string;
    }): Promise<SlackThread | null> {
      const row = await findRow(query, 'slack_threads', { tenant, conversation });
      return row ? fromColumns(row) : null;
    },
    async agentOf(team: string, channel: string): Promise<string | null> {
      return (await findRow(query, 'slack_channels', { team, channel }))?.agent ?? null;
    },
    /** Null: the default agent. */
    async setAgent(team: string, channel: string, agent: string | null): Promise<void> {
      if (agent === null) await deleteRows(query, 'slack_channels', { team, channel });
      else await upsert(query, 'slack_channels', { team, channel }, { agent });
    },
  };
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
      return !(await findRow(query, 'audit', { elicitation_id: elicitationId, action: 'opened' }));
    },
  };
}
