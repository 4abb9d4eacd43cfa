import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Two agents files may expose tools of one name: they are told apart by their agents. The table of 027 stays for workers of
 * older versions, which may have to start again while their turns wait.
 */
export async function createExposedToolsOfAgents(db: Kysely<unknown>): Promise<void> {
  await sql`create table agent_exposed_tools (
    agent text not null,
    name text not null,
    description text not null,
    primary key (agent, name)
  )`.execute(db);
  await sql`insert into agent_exposed_tools (agent, name, description)
    select agent, name, description from exposed_tools`.execute(db);
}
