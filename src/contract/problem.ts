/** Errors, as RFC 9457 problem documents. */
import { z } from 'zod';

export const ProblemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: 'Stable, to decide by' }),
    detail: z.string().meta({ description: 'For people: names the thing and the remedy' }),
    errors: z
      .array(z.looseObject({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'What is wrong with which field, as JSON pointers (RFC 6901)' }),
    turnId: z.string().optional().meta({ description: 'The live turn, when the conversation is busy' }),
  })
  .meta({
    id: 'Problem',
    description: 'What went wrong, as a problem document (RFC 9457)',
    examples: [
      {
        type: 'urn:interlude:problem:invalid_request',
        title: 'The request is not valid',
        status: 400,
        code: 'invalid_request',
        detail: "/messages/0/role: the last message has to be the user's",
        errors: [{ pointer: '/messages/0/role', detail: "the last message has to be the user's" }],
      },
    ],
  });
