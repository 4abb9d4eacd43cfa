import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { LinkedPerson, SlackPeople, SlackPerson, SlackTickets } from '../ports/slack.ts';
import type { Tables } from '../schema.ts';

export function createSlackPeople({ query }: Pick<Database, 'query'>): SlackPeople {
  return {
    async get({ team, slackUser }) {
      const row = await query
        .selectFrom('slack_users')
        .selectAll()
        .where('team', '=', team)
        .where('slack_user', '=', slackUser)
        .executeTakeFirst();
      return row ? toPerson(row) : null;
    },
    async link({ team, slackUser, tenant, user, linkedAt }) {
      const values = { tenant, user_id: user, linked_at: linkedAt };
      await query
        .insertInto('slack_users')
        .values({ team, slack_user: slackUser, ...values })
        .onConflict((same) => same.columns(['team', 'slack_user']).doUpdateSet(values))
        .execute();
    },
    /** Their threads, too: whoever is linked next is somebody else as far as we know. */
    async unlink({ team, slackUser }: SlackPerson) {
      await query.transaction().execute(async (write) => {
        for (const table of ['slack_users', 'slack_threads'] as const)
          await write
            .deleteFrom(table)
            .where('team', '=', team)
            .where('slack_user', '=', slackUser)
            .execute();
      });
    },
    async ofUser({ tenant, user }) {
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

export function createSlackTickets({ query, now }: Pick<Database, 'query' | 'now'>): SlackTickets {
  return {
    issue: ({ digest, purpose, team, slackUser, expiresAt }) =>
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
    async find(digest, purpose) {
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
    async use(digest) {
      const row = await query
        .deleteFrom('slack_tickets')
        .where('digest', '=', digest)
        .where('expires_at', '>=', now())
        .returning('digest')
        .executeTakeFirst();
      return row !== undefined;
    },
    async until({ team, slackUser }) {
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
