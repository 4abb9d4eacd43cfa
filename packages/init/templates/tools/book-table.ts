/** Asks the user when, and books. A worker may be killed between any two lines. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as effects from './activities.ts';

export const bookTable = defineTool({
  name: 'book_table',
  description: 'Books a table at the restaurant. Asks the user for the time.',
  input: z.object({ people: z.number().int().min(1) }),
  activities: activities<typeof effects>(),
  async run({ people }, { elicit, activities: restaurant }) {
    const answer = await elicit(
      `A table for ${people}: when?`,
      z.object({
        time: z
          .string()
          .regex(/^\d{1,2}:\d{2}$/)
          .describe('Like 19:30'),
        outside: z.boolean().default(false).describe('On the terrace'),
      }),
    );
    if (answer.status !== 'accept') return `No table was booked (${answer.status}).`;
    const { time, outside } = answer.content;
    const number = await restaurant.book({ people, time, outside });
    return `Booked: a table for ${people} at ${time}${outside ? ' on the terrace' : ''}, number ${number}.`;
  },
});
