import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { SlackInstallation, SlackInstallations } from '../ports/slack.ts';
import type { Tables } from '../schema.ts';

/** What is known of a workspace besides that it is one. */
const tablesOfTeam = [
  'slack_events',
  'slack_users',
  'slack_tickets',
  'slack_threads',
  'slack_channels',
  'slack_deliveries',
  'slack_messages',
] as const;

export function createSlackInstallations({ query }: Pick<Database, 'query'>): SlackInstallations {
  return {
    async put(installation) {
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
    async get(team) {
      const row = await query
        .selectFrom('slack_installations')
        .selectAll()
        .where('team', '=', team)
        .executeTakeFirst();
      return row ? toInstallation(row) : null;
    },
    async remove(team) {
      await query.transaction().execute(async (write) => {
        await write.deleteFrom('slack_installations').where('team', '=', team).execute();
        for (const table of tablesOfTeam) await write.deleteFrom(table).where('team', '=', team).execute();
      });
    },
    async list(tenant) {
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
