/** Errors, as RFC 9457 problem documents. */
import { z } from 'zod';

export const ProblemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    /** Stable, to decide by. */
    code: z.string(),
    /** For people: names the thing and the remedy. */
    detail: z.string(),
    errors: z
      .array(z.looseObject({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'What is wrong with which field, as JSON pointers (RFC 6901)' }),
    turnId: z.string().optional().meta({ description: 'The live turn, when the conversation is busy' }),
  })
  .meta({ id: 'Problem' });
