/** Asks the user when. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';

export const bookTable = defineTool({
  name: 'book_table',
  description: 'Books a table. Asks the user when.',
  input: z.object({ people: z.int().min(1) }),
  async run({ people }, { elicit }) {
    const when = z.object({ day: z.iso.date(), time: z.enum(['18:00', '19:30', '21:00']) });
    const answer = await elicit(`A table for ${people}: when?`, when);
    if (answer.status !== 'accept') return `No table was booked (${answer.status}).`;
    return `Booked: table T${people} on ${answer.content.day} at ${answer.content.time}.`;
  },
});

export const cancelTable = defineTool({
  name: 'cancel_table',
  description: 'Cancels a booking. The user approves it first.',
  input: z.object({ number: z.string() }),
  annotations: { destructiveHint: true },
  execute: ({ number }) => `Table ${number} is cancelled.`,
});
