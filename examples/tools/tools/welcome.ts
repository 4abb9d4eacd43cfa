/** Wizard: each question uses what was said before, and a restart in between loses nothing. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as effects from './activities.ts';

export const welcome = defineTool({
  name: 'welcome_member',
  description: 'Adds a member to the team. Asks the user for everything it needs.',
  input: z.object({}),
  activities: activities<typeof effects>({ timeout: '30s', idempotent: ['readTeams'] }),
  async run(_, { elicit, activities: team, progress }) {
    const who = await elicit(
      'Who is new?',
      z.object({ name: z.string().min(1), email: z.email().describe('An invitation goes there') }),
    );
    if (who.status !== 'accept') return `Nobody was added (${who.status}).`;
    const { name, email } = who.content;

    progress({ progress: 1, total: 3, message: `Looking for teams for ${name}` });
    const teams = await team.readTeams();
    const where = await elicit(`Which team does ${name} join?`, z.object({ team: z.enum(teams) }));
    if (where.status !== 'accept') return `${name} was not added (${where.status}).`;

    progress({ progress: 2, total: 3, message: 'One last look' });
    const sure = await elicit(
      `Add ${name} (${email}) to ${where.content.team}?`,
      z.object({ add: z.boolean().default(true) }),
    );
    if (sure.status !== 'accept' || !sure.content.add) return `${name} was not added.`;
    await team.addMember({ name, email, team: where.content.team });
    return { added: name, team: where.content.team };
  },
});
