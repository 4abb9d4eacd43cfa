/** The answers that clients send to questions, one or several at once, and the receipts that they get for them. */
import { z } from 'zod';
import { ClientIdSchema, ElicitationIdSchema } from './ids.ts';
import { ProblemSchema } from './problem.ts';

const responseExamples = [
  {
    conversationId: 'demo-1',
    elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
    action: 'decline',
  },
  {
    conversationId: 'demo-1',
    elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
    action: 'accept',
    content: { project: 'Website' },
  },
  {
    conversationId: 'demo-1',
    elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
    action: 'accept',
    remember: 'conversation',
  },
  {
    conversationId: 'demo-1',
    elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
    action: 'decline',
    reason: 'Not this one, it is still needed.',
  },
];

/** What a person decided. `content` only with `accept` of a form. */
export const ElicitationResponseSchema = z
  .strictObject({
    conversationId: ClientIdSchema.meta({ description: 'Where the question was asked' }),
    elicitationId: ElicitationIdSchema,
    action: z.enum(['accept', 'decline', 'cancel']).meta({
      description: '`accept` of a link is consent: the turn goes on once the account is connected',
    }),
    content: z.record(z.string(), z.unknown()).optional().meta({
      description:
        'With `accept` of a form, and only then: what was filled in, as its `requestedSchema` has it',
    }),
    remember: z.enum(['conversation', 'always']).optional().meta({
      description:
        'With `accept` of an approval, and only then: further calls of this tool need none in this conversation, or ever, until it is withdrawn',
    }),
    reason: z.string().max(1000).optional().meta({
      description: 'With `decline` of an approval, and only then: why, for the model',
    }),
    source: z.enum(['file', 'program', 'rule']).optional().meta({
      description:
        'What answered where no person did, for the audit: a file of answers, a program, or a rule for all questions',
    }),
  })
  .meta({
    id: 'ElicitationResponse',
    examples: responseExamples,
  });

export type ElicitationResponse = z.infer<typeof ElicitationResponseSchema>;

const responsesExamples = [
  {
    conversationId: 'demo-1',
    responses: [
      {
        elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
        action: 'accept',
        content: { project: 'Website' },
      },
      { elicitationId: '5d0a7b8e-3c1f-4f7b-8a55-9f2e6c4b1d37', action: 'decline' },
    ],
  },
];

/** Several answers at once, each to a question of its own. */
export const ElicitationResponsesSchema = z
  .strictObject({
    conversationId: ClientIdSchema.meta({ description: 'Where all of them were asked' }),
    responses: z
      .array(ElicitationResponseSchema.omit({ conversationId: true }))
      .min(1)
      .max(50)
      .refine(
        (all) => new Set(all.map(({ elicitationId }) => elicitationId)).size === all.length,
        'answer each question once',
      ),
  })
  .meta({
    id: 'ElicitationResponses',
    examples: responsesExamples,
  });

/** The body of `POST /run/api/elicitation-responses`. */
export const AnswerBodySchema = z
  .union([ElicitationResponsesSchema, ElicitationResponseSchema])
  .meta({ id: 'AnswerBody', examples: [...responseExamples, ...responsesExamples] });

export type ElicitationResponses = z.infer<typeof ElicitationResponsesSchema>;

export const ElicitationReceiptSchema = z
  .looseObject({
    elicitationId: z.string(),
    status: z
      .enum(['pending', 'accept', 'decline', 'cancel', 'expired'])
      .meta({ description: 'The outcome; `pending`: `awaiting` names what is missing' }),
    duplicate: z
      .boolean()
      .optional()
      .meta({ description: 'The same answer was given before; nothing has changed' }),
    awaiting: z.enum(['connection', 'page']).optional().meta({
      description:
        'Consent is on record; the turn goes on once the account is connected, or the page reports that it is done',
    }),
  })
  .meta({
    id: 'ElicitationReceipt',
    examples: [
      { elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90', status: 'decline', duplicate: false },
      { elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90', status: 'pending', awaiting: 'connection' },
    ],
  });

export type ElicitationReceipt = z.infer<typeof ElicitationReceiptSchema>;

/** One item per answer, in the order of the request: a receipt, or the problem that this answer met. */
export const ElicitationReceiptsSchema = z
  .looseObject({
    items: z.array(
      z.looseObject({
        elicitationId: z.string(),
        httpStatus: z.int().meta({ description: 'What the same answer gets when it is posted alone' }),
        receipt: ElicitationReceiptSchema.optional(),
        problem: ProblemSchema.optional(),
      }),
    ),
  })
  .meta({ id: 'ElicitationReceipts' });

export type ElicitationReceipts = z.infer<typeof ElicitationReceiptsSchema>;
