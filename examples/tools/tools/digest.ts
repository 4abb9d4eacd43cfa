/** Preferences: every field has a default, for callers that cannot be asked. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';

export const digest = defineTool({
  name: 'plan_digest',
  description: 'Settles how often the user gets a digest, and what is in it.',
  input: z.object({ project: z.string() }),
  output: z.object({ every: z.enum(['day', 'week']), topics: z.array(z.string()), hour: z.int() }),
  async run({ project }, { elicit }) {
    const usual = { every: 'week' as const, topics: ['issues' as const], hour: 9 };
    const preferences = z.object({
      every: z.enum(['day', 'week']).default(usual.every),
      topics: z.array(z.enum(['issues', 'pages', 'people'])).default(usual.topics),
      hour: z.int().min(0).max(23).default(usual.hour).describe('Hour of the day, 0 to 23'),
    });
    const answer = await elicit(`A digest of ${project}: how would you like it?`, preferences, {
      ttl: 120_000,
      whenUnsupported: 'defaults',
    });
    return answer.status === 'accept' ? answer.content : usual;
  },
});
