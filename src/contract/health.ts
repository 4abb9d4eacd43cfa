/** What operators and their probes are told about a process. */
import { z } from 'zod';

export const RunningSchema = z.looseObject({ status: z.literal('ok') });

export const ReadySchema = z.looseObject({ status: z.literal('ready') });

export const NotReadySchema = z.looseObject({
  status: z.literal('not ready'),
  notReady: z
    .array(
      z.looseObject({ name: z.string(), detail: z.string().meta({ description: 'What to do about it' }) }),
    )
    .meta({
      examples: [[{ name: 'database', detail: 'the database does not answer; check DATABASE_URL' }]],
    }),
});
