/** Wizard: three questions, each of which uses what was said before. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as office from './activities.ts';
import { whyNot } from './lib/why-not.ts';

export const welcomeMember = defineTool({
  name: 'welcome_member',
  description: 'Adds a member to a team. Asks the user for everything it needs.',
  input: z.object({}),
  activities: activities<typeof office>({ idempotent: ['readDesk', 'addMember'] }),
  async run(_, { elicit, activities: office, progress }) {
    progress({ progress: 1, total: 3, message: 'Step 1 of 3: who' });
    const who = await elicit(
      'Who is new? (1 of 3)',
      z.object({
        name: z.string().min(2).max(60).describe('First and last name'),
        email: z.email().describe('The invitation goes there'),
      }),
    );
    if (who.status !== 'accept') return `Nobody was added: ${whyNot(who.status)}.`;
    const { name, email } = who.content;

    progress({ progress: 2, total: 3, message: 'Step 2 of 3: where' });
    const { teams, members } = await office.readDesk();
    const where = await elicit(
      `Which team does ${name} join? (2 of 3)`,
      z.object({
        team: z.enum(teams).default(teams[0] ?? ''),
        greeting: z.string().max(200).optional().describe('A line of yours in the invitation'),
      }),
    );
    if (where.status !== 'accept') return `${name} was not added: ${whyNot(where.status)}.`;
    const { team } = where.content;

    progress({ progress: 3, total: 3, message: 'Step 3 of 3: one last look' });
    const colleagues = members.filter((member) => member.team === team).length;
    const sure = await elicit(
      `Add ${name} <${email}> to ${team}, which has ${colleagues} so far? (3 of 3)`,
      z.object({ add: z.boolean().default(true).meta({ title: 'Add and invite them' }) }),
    );
    if (sure.status !== 'accept') return `${name} was not added: ${whyNot(sure.status)}.`;
    if (!sure.content.add) return `${name} was not added: the user decided against it.`;
    await office.addMember({ name, email, team });
    return `${name} is a member of ${team} now. The invitation went to ${email}.`;
  },
});
