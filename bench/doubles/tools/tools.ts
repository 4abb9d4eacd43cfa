/** The same as the servers that ask can do, in TypeScript, and a wizard. */
import { activities, defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import type * as effects from './activities.ts';

const nights = z.object({ nights: z.int().min(1).max(30).meta({ title: 'Nights' }) });

export const plain = defineTool({
  name: 'plain',
  expose: true,
  description: 'Does nothing.',
  input: z.object({}),
  execute: () => 'done',
});

export const plainRun = defineTool({
  name: 'plain_run',
  description: 'Does nothing, in a workflow of its own.',
  input: z.object({}),
  run: () => 'done',
});

export const ask = defineTool({
  name: 'ask',
  expose: true,
  description: 'Asks once.',
  input: z.object({}),
  async run(_, { elicit }) {
    const answer = await elicit('How many nights?', nights);
    return answer.status === 'accept' ? `${answer.content.nights} nights` : answer.status;
  },
});

export const wizard = defineTool({
  name: 'wizard',
  description: 'Asks twice, and books.',
  input: z.object({}),
  activities: activities<typeof effects>({ timeout: '10s' }),
  async run(_, { elicit, activities: hotel }) {
    const first = await elicit('How many nights?', nights);
    if (first.status !== 'accept') return first.status;
    const second = await elicit(`${first.content.nights} nights, and how many more?`, nights);
    if (second.status !== 'accept') return second.status;
    await hotel.book(first.content.nights + second.content.nights);
    return 'booked';
  },
});
