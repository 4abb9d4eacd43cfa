/** Confirm: nothing is deleted before the user has said so. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as effects from './activities.ts';

export const deletePage = defineTool({
  name: 'delete_page',
  description: 'Deletes a page of the wiki, once the user has agreed.',
  input: z.object({ page: z.string() }),
  annotations: { destructiveHint: true },
  activities: activities<typeof effects>(),
  async run({ page }, { elicit, activities: wiki }) {
    const answer = await elicit(
      `Delete the page "${page}"?`,
      z.object({ confirmed: z.boolean().describe('Yes, delete it') }),
    );
    if (answer.status !== 'accept' || !answer.content.confirmed) return 'Nothing was deleted.';
    await wiki.deletePage(page);
    return { deleted: page };
  },
});
