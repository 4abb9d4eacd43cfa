/**
 * What `useChat` posts, and what the JSON answer looks like. Unknown members and parts are ignored: released
 * clients add their own.
 */
import { z } from 'zod';
import { ClientIdSchema } from './ids.ts';

const PartSchema = z
  .looseObject({ type: z.string() })
  .refine((value) => value.type !== 'text' || typeof value['text'] === 'string', {
    path: ['text'],
    message: 'a text part needs its text',
  });

const MessageSchema = z.object({
  id: ClientIdSchema.optional(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(PartSchema),
});

/** What to do when the conversation is busy with a turn that is at work, not just waiting for a person. */
export const OnBusySchema = z.enum(['refuse', 'cancel']).default('refuse');

export const ChatRequestSchema = z
  .object({
    id: ClientIdSchema.optional().meta({
      description:
        'The conversation. Its stored messages are the history, and only the last message here is new. Without it, a new conversation begins with these messages.',
    }),
    messages: z.array(MessageSchema).min(1, 'send at least the new user message'),
    agentId: z.string().min(1).optional().meta({
      description: 'Only counts in a new conversation; the first agent unless given',
    }),
    stream: z.boolean().default(true),
    onBusy: OnBusySchema.meta({
      description: 'A turn that only waits for a person makes room in any case',
    }),
    trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
    messageId: ClientIdSchema.nullish(),
  })
  .meta({
    id: 'ChatRequest',
    examples: [
      {
        id: 'demo-1',
        messages: [
          { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'List my open issues in Tracker.' }] },
        ],
      },
    ],
  });

export type ChatRequest = z.infer<typeof ChatRequestSchema>;

/** With `stream: false`. */
export const ChatAnswerSchema = z
  .looseObject({
    conversationId: z.string(),
    turnId: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'superseded']),
    message: z
      .looseObject({
        id: z.string(),
        role: z.literal('assistant'),
        parts: z.array(z.looseObject({ type: z.string() })),
      })
      .meta({ description: 'An AI SDK UI message' }),
    usage: z.looseObject({ inputTokens: z.int(), outputTokens: z.int() }).nullable(),
    error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'ChatAnswer' });

export const CancelAnswerSchema = z
  .looseObject({ status: z.enum(['cancelling', 'idle']), turnId: z.string().optional() })
  .meta({ id: 'CancelAnswer' });
