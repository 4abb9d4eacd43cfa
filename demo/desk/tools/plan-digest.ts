/** Preferences: every field has a default, which is what holds so far, and stands where nobody can be asked. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as office from './activities.ts';
import { whyNot } from './lib/why-not.ts';

export const planDigest = defineTool({
  name: 'plan_digest',
  description: 'Settles how often the user gets a digest of the office, and what is in it. Asks the user.',
  input: z.object({}),
  activities: activities<typeof office>({ idempotent: ['readDesk', 'setDigest'] }),
  async run(_, { elicit, activities: office }) {
    const { digest } = await office.readDesk();
    const answer = await elicit(
      'Your digest: how would you like it?',
      z.object({
        every: z.enum(['day', 'week']).default(digest.every).meta({ title: 'How often' }),
        topics: z
          .array(z.enum(['issues', 'pages', 'people']))
          .default(digest.topics)
          .meta({ title: 'What is in it' }),
        hour: z.int().min(0).max(23).default(digest.hour).meta({ title: 'Hour of the day' }),
      }),
      { whenUnsupported: 'defaults' },
    );
    if (answer.status !== 'accept') return `The digest stays as it is: ${whyNot(answer.status)}.`;
    const { every, topics, hour } = answer.content;
    await office.setDigest({ every, topics, hour });
    const about = topics.length === 0 ? 'nothing in it' : topics.join(', ');
    return `The digest comes every ${every} at ${hour}:00, with ${about}.`;
  },
});
