/** What operators and their probes are told about a process. */
import { z } from 'zod';

export const RunningSchema = z.looseObject({ status: z.literal('ok') });

const lack = z.looseObject({
  name: z.string(),
  detail: z.string().meta({ description: 'What is missing, and what to do about it' }),
});

const warnings = z.array(lack).meta({
  description: 'What the process does without for now: an API accepts answers and messages without Temporal',
  examples: [
    [{ name: 'temporal', detail: 'Temporal does not answer (UNAVAILABLE); check TEMPORAL_ADDRESS' }],
  ],
});

export const ReadySchema = z.looseObject({ status: z.literal('ready'), warnings });

export const NotReadySchema = z.looseObject({
  status: z.literal('not ready'),
  notReady: z.array(lack).meta({
    examples: [[{ name: 'database', detail: 'the database refuses the login (28P01); check DATABASE_URL' }]],
  }),
  warnings,
});
