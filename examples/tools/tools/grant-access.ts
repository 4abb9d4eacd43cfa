/** Authorization: the user decides what a guest may do and for how long. The model's input decides none of it. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as effects from './activities.ts';

export const grantAccess = defineTool({
  name: 'grant_access',
  description: 'Asks the user to give a guest access to a page of the wiki. The user chooses which access.',
  input: z.object({ page: z.string(), guest: z.email() }),
  annotations: { destructiveHint: true },
  activities: activities<typeof effects>(),
  async run({ page, guest }, { elicit, activities: wiki }) {
    const consent = await elicit(
      `${guest} asks for access to the page "${page}". What do you allow?`,
      z.object({
        access: z.enum(['nothing', 'read', 'edit']),
        days: z.int().min(1).max(30).default(7).describe('The access ends after that'),
      }),
      { ttl: 120_000 },
    );
    if (consent.status !== 'accept') return `${guest} was given no access (${consent.status}).`;
    const { access, days } = consent.content;
    if (access === 'nothing') return `The user refused ${guest} access to "${page}".`;
    await wiki.grantAccess({ page, guest, access, days });
    return { granted: access, to: guest, page, days };
  },
});
