/** Lists of conversations, their messages, and the parameters of the feed. */
import { z } from 'zod';
import { ReaderHeadersSchema } from './http.ts';

export const ConversationSchema = z
  .looseObject({
    id: z.string(),
    agent: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    turn: z
      .looseObject({ turnId: z.string(), status: z.literal('running') })
      .nullable()
      .meta({ description: 'The live turn; null when the conversation is idle' }),
  })
  .meta({
    id: 'Conversation',
    examples: [
      {
        id: 'demo-1',
        agent: 'assistant',
        createdAt: '2026-11-21T12:00:00.000Z',
        updatedAt: '2026-11-21T12:01:30.000Z',
        turn: { turnId: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11', status: 'running' },
      },
    ],
  });

export type Conversation = z.infer<typeof ConversationSchema>;

export const nextPage = z
  .string()
  .nullable()
  .meta({ description: '`cursor` of the next page; null on the last one' });

export const ConversationListSchema = z
  .looseObject({ items: z.array(ConversationSchema), next: nextPage })
  .meta({ id: 'ConversationList' });

export type ConversationList = z.infer<typeof ConversationListSchema>;

const UiMessageSchema = z
  .looseObject({
    id: z.string(),
    role: z.enum(['user', 'assistant']),
    parts: z.array(z.looseObject({ type: z.string() })),
  })
  .meta({ id: 'UiMessage', description: 'An AI SDK UI message' });

export const ConversationMessagesSchema = ConversationSchema.extend({
  messages: z.looseObject({ items: z.array(UiMessageSchema), next: nextPage }).meta({
    description:
      'Oldest first; `next` leads to older ones. The live turn’s own message comes with its stream.',
  }),
  position: z
    .int()
    .min(0)
    .meta({
      description: 'Where the feed goes on: with `after`, it tells everything that is not told here',
      examples: [42],
    }),
}).meta({ id: 'ConversationMessages' });

export type ConversationMessages = z.infer<typeof ConversationMessagesSchema>;

const digits = /^\d+$/;

/** A query parameter. Only decimal digits: `0x10` and `1e1` are refused. */
export function pageLimit(description: string) {
  return z.preprocess(
    (text) => (typeof text === 'string' && digits.test(text) ? Number(text) : text),
    z
      .int()
      .min(1, 'send a whole number from 1 to 100')
      .max(100, 'send a whole number from 1 to 100')
      .default(20)
      .meta({ description, examples: [20] }),
  );
}

const position = /^\d{1,15}$/;

export const FeedQuerySchema = z.object({
  after: z
    .string()
    .regex(/^(latest|\d{1,15})$/, 'send the sequence number of the last event you have seen, or latest')
    .optional()
    .meta({
      description: 'Only what comes after this sequence number, or after now: `latest`',
      examples: ['12'],
    }),
  operations: z
    .enum(['true', 'false'])
    .optional()
    .meta({
      description: '`true` is the same as the header `x-emit-operations: true`',
      examples: ['true'],
    }),
});

export const FeedHeadersSchema = ReaderHeadersSchema.extend({
  'last-event-id': z
    .string()
    .regex(position, 'send back the id of the last event you have seen, as it was')
    .optional()
    .meta({ description: 'Counts more than `after`', examples: ['12'] }),
});
