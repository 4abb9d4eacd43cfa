/** Confirm: says what would happen, and does it after a yes. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as office from './activities.ts';
import { whyNot } from './lib/why-not.ts';

export const deletePage = defineTool({
  name: 'delete_page',
  description: 'Deletes a page of the wiki. Asks the user whether it may.',
  input: z.object({ page: z.string().describe('Its title') }),
  annotations: { destructiveHint: true },
  expose: true,
  activities: activities<typeof office>({ idempotent: ['readDesk', 'deletePage'] }),
  async run({ page: wanted }, { elicit, activities: office }) {
    const { pages } = await office.readDesk();
    const page = pages.find(({ title }) => title.toLowerCase() === wanted.toLowerCase());
    if (!page)
      return `There is no page "${wanted}". There are: ${pages.map(({ title }) => title).join(', ')}.`;
    const answer = await elicit(
      `Delete the page "${page.title}"? ${page.changedBy} changed it last. It cannot be brought back.`,
      z.object({ confirmed: z.boolean().meta({ title: 'Yes, delete it' }) }),
      { ttl: 5 * 60_000 },
    );
    if (answer.status !== 'accept') return `The page "${page.title}" was kept: ${whyNot(answer.status)}.`;
    if (!answer.content.confirmed) return `The page "${page.title}" was kept: the user did not confirm.`;
    await office.deletePage(page.title);
    return `The page "${page.title}" is deleted.`;
  },
});
