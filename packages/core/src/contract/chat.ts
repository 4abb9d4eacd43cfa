/** The request that `useChat` posts, and the JSON answer. Unknown members and parts are ignored: released clients add their own. */
import { z } from 'zod';
import { ElicitationRequestSchema, ElicitationResponseSchema } from './elicitation.ts';
import { AgentNameSchema, ClientIdSchema, ElicitationIdSchema } from './http.ts';
import { OperationSchema, ToolAuthRequiredSchema } from './stream-event.ts';

const PartSchema = z
  .looseObject({
    type: z
      .string()
      .meta({ description: '`text`, whose words are in `text`; `file`, whose image is in `url`' }),
  })
  .refine((value) => value.type !== 'text' || typeof value['text'] === 'string', {
    path: ['text'],
    message: 'a text part needs its text',
  });

const needsParts =
  'missing; a message here has parts: [{ "type": "text", "text": "…" }]. Messages with content are OpenAI\'s, for POST /run/v1/chat/completions';
const needsMessages =
  'missing; send messages: [{ "role": "user", "parts": [{ "type": "text", "text": "…" }] }]';

/** The error message for a missing member. */
function missing(words: string): ({ input }: { input?: unknown }) => string | undefined {
  return ({ input }) => (input === undefined ? words : undefined);
}

const MessageSchema = z.object({
  id: ClientIdSchema.optional().meta({
    description: 'Chosen by the client. The same id again joins the turn that it began the first time',
  }),
  role: z
    .enum(['system', 'user', 'assistant'])
    .meta({ description: "The last message is the user's. What is said as `system` counts as the user's" }),
  parts: z.array(PartSchema, { error: missing(needsParts) }).meta({
    description:
      'Text is what counts, and images for an agent that takes them: `{type: "file", mediaType, url}` with the image itself as a `data:` URL in base64, PNG, JPEG, GIF or WebP. Other parts are ignored, other files refused in the last message. In the last message, a part `{type: "data-page-context", data: {text}}` tells the agent what the page around the chat shows, and a part `{type: "data-elicitation-response", data: {elicitationId, action, content?}}` answers a question instead of starting a turn, and stands alone',
  }),
});

/** The answer to a question, as the only part of the last message. Ignored elsewhere. */
export const ElicitationResponsePartSchema = z.looseObject({
  type: z.literal('data-elicitation-response'),
  data: ElicitationResponseSchema.omit({ conversationId: true }),
});

/** The answer to a `tool-approval-request`, as the SDK sends it: in a last message of the assistant. */
export const ToolApprovalPartSchema = z.looseObject({
  state: z.literal('approval-responded'),
  approval: z.looseObject({
    id: ElicitationIdSchema,
    approved: z.boolean(),
    reason: z.string().max(1000).optional(),
  }),
});

export const PageContextTextSchema = z
  .string()
  .max(16_000, 'the context of a page has at most 16,000 characters; send what matters');

/** In the last message, at most once, beside the user's text: passed to the agent and never shown as the user's text. */
export const PageContextPartSchema = z.looseObject({
  type: z.literal('data-page-context'),
  data: z.looseObject({
    text: PageContextTextSchema,
  }),
});

/** What to do when the conversation is busy with a turn that is at work, not just waiting for a person. */
export const OnBusySchema = z.enum(['refuse', 'cancel']).default('refuse');

export const ChatRequestSchema = z
  .object({
    id: ClientIdSchema.optional().meta({
      description:
        'The conversation. Its stored messages are the history, and only the last message here is new. Without it, a new conversation begins with these messages.',
    }),
    messages: z
      .array(MessageSchema, { error: missing(needsMessages) })
      .min(1, 'send at least the new user message')
      .meta({ description: 'The last one is new' }),
    agentId: AgentNameSchema.optional().meta({
      description: 'Only counts in a new conversation; the first agent unless given',
    }),
    stream: z
      .boolean()
      .default(true)
      .meta({ description: '`false`: one JSON answer when the turn is over. Then nobody can be asked' }),
    onBusy: OnBusySchema.meta({
      description:
        'When a turn is at work: refuse the new message with 409, or cancel that turn. One that only waits for a person makes room in any case',
    }),
    trigger: z
      .enum(['submit-message', 'regenerate-message'])
      .default('submit-message')
      .meta({ description: '`regenerate-message` asks the last message once more' }),
    messageId: ClientIdSchema.nullish().meta({ description: 'Sent by `useChat`; nothing depends on it' }),
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
      {
        messages: [
          { role: 'user', parts: [{ type: 'text', text: 'Hello.' }] },
          { role: 'assistant', parts: [{ type: 'text', text: 'Hello! What can I do for you?' }] },
          { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'Tell me about yourself.' }] },
        ],
        agentId: 'assistant',
        stream: false,
        onBusy: 'cancel',
        trigger: 'submit-message',
        messageId: 'm2',
      },
      {
        id: 'demo-1',
        messages: [
          {
            id: 'm3',
            role: 'user',
            parts: [
              {
                type: 'data-elicitation-response',
                data: { elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90', action: 'decline' },
              },
            ],
          },
        ],
      },
      {
        id: 'demo-1',
        messages: [
          {
            id: 'm4',
            role: 'user',
            parts: [
              { type: 'text', text: 'What does this order cost?' },
              { type: 'data-page-context', data: { text: 'Order 1043: 2 desk lamps, 86.00 EUR' } },
            ],
          },
        ],
      },
    ],
  });

export type ChatRequest = z.infer<typeof ChatRequestSchema>;

const dataChunk = <const Name extends string, Data extends z.ZodType>(name: Name, data: Data) =>
  z.looseObject({ type: z.literal(`data-${name}`), id: z.string(), data });

/** Chunks with our own data; all others are the AI SDK's. */
export const ChatChunkSchema = z
  .union([
    dataChunk('elicitation-request', ElicitationRequestSchema),
    dataChunk('operation', OperationSchema),
    dataChunk('tool-auth-required', ToolAuthRequiredSchema),
    z.looseObject({ type: z.string() }),
  ])
  .meta({
    id: 'ChatChunk',
    description: 'A chunk of an AI SDK UI message stream. Parts with the same type and id replace each other',
  });

/** The answer with `stream: false`. */
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
  .meta({
    id: 'ChatAnswer',
    examples: [
      {
        conversationId: 'demo-1',
        turnId: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11',
        status: 'completed',
        message: {
          id: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11',
          role: 'assistant',
          parts: [{ type: 'text', text: 'Hello! What can I do for you?' }],
        },
        usage: { inputTokens: 12, outputTokens: 9 },
      },
    ],
  });

export const CancelAnswerSchema = z
  .looseObject({ status: z.enum(['cancelling', 'idle']), turnId: z.string().optional() })
  .meta({
    id: 'CancelAnswer',
    examples: [{ status: 'cancelling', turnId: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11' }],
  });

export type CancelAnswer = z.infer<typeof CancelAnswerSchema>;
