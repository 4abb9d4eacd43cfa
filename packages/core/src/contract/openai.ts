/**
 * The requests of OpenAI clients, and the JSON answers. Parameters without a meaning here pass, as do roles and members of
 * messages without text. Only what would change the answer, if it were supported, is refused.
 */
import { z } from 'zod';
import { OnBusySchema } from './chat.ts';
import { ElicitationRequestSchema } from './elicitation.ts';
import { AgentNameSchema, ClientIdSchema } from './http.ts';

const PartSchema = z
  .looseObject({
    type: z.string().meta({
      description:
        '`text`, whose words are in `text`; in messages of the user `image_url`, whose image is in `image_url.url` as a `data:` URL in base64',
    }),
  })
  .refine((part) => part.type !== 'text' || typeof part['text'] === 'string', {
    path: ['text'],
    message: 'a text part needs its text',
  });

const MessageSchema = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']).meta({
      description:
        "What is said as `system` or `developer` counts as the user's; `tool` and `function` are left out",
    }),
    content: z
      .union([z.string(), z.array(PartSchema)], 'send a text or a list of parts')
      .nullish()
      .meta({
        description: 'Text, or parts of type `text` and, for an agent that takes images, `image_url`',
      }),
  })
  .refine((message) => message.content != null || !Array.isArray(message['parts']), {
    path: ['content'],
    message: 'missing; messages with parts are for POST /run/api/chat, where useChat posts',
  });

const ownTools = 'the agent brings its own tools; leave this out';

export const ChatCompletionRequestSchema = z
  .looseObject({
    model: AgentNameSchema.meta({ description: 'The agent, as `/run/v1/models` lists it' }),
    messages: z.array(MessageSchema).min(1, "send at least the user's message").meta({
      description: 'The last one is the new message of the user',
    }),
    conversationId: ClientIdSchema.nullish().meta({
      description:
        'The conversation to go on with. Its stored messages are the history, and only the last message here is new. Without it, a new conversation begins with these messages.',
    }),
    onBusy: OnBusySchema.meta({
      description:
        'When a turn is at work: refuse the new message with 409, or cancel that turn. One that only waits for a person makes room in any case',
    }),
    stream: z.boolean().nullish().meta({ description: '`true` for chunks; otherwise nobody can be asked' }),
    stream_options: z
      .looseObject({
        include_usage: z
          .boolean()
          .nullish()
          .meta({ description: '`true` for a last chunk with the usage of the turn' }),
      })
      .nullish()
      .meta({ description: 'Only counts with `stream: true`' }),
    n: z.literal(1, 'there is one answer').nullish().meta({ description: 'There is one answer' }),
    tools: z
      .array(z.unknown())
      .max(0, ownTools)
      .nullish()
      .meta({ description: 'The agent brings its own tools' }),
    functions: z
      .array(z.unknown())
      .max(0, ownTools)
      .nullish()
      .meta({ description: 'The agent brings its own tools' }),
    response_format: z
      .looseObject({
        type: z.literal('text', 'agents answer in text').meta({ description: 'Agents answer in text' }),
      })
      .nullish()
      .meta({ description: 'Agents answer in text' }),
    modalities: z
      .array(z.literal('text', 'agents answer in text'))
      .nullish()
      .meta({ description: 'Agents answer in text' }),
    logprobs: z
      .literal(false, 'agents do not tell probabilities')
      .nullish()
      .meta({ description: 'Agents do not tell probabilities' }),
  })
  .meta({
    id: 'ChatCompletionRequest',
    examples: [
      {
        model: 'assistant',
        messages: [{ role: 'user', content: 'List my open issues in Tracker.' }],
        stream: true,
        stream_options: { include_usage: true },
      },
      {
        model: 'assistant',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Tell me about yourself.' }] }],
        conversationId: 'demo-1',
        onBusy: 'cancel',
        response_format: { type: 'text' },
        modalities: ['text'],
      },
    ],
  });

export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequestSchema>;

const FinishReasonSchema = z.enum(['stop', 'length', 'content_filter']);
export type FinishReason = z.infer<typeof FinishReasonSchema>;

const CompletionUsageSchema = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});

const ToolCallSchema = z.looseObject({
  index: z.int(),
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

/** The answer with `stream: true`. */
export const ChatCompletionChunkSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.literal(0),
        delta: z.looseObject({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          tool_calls: z.array(ToolCallSchema).optional().meta({
            description: 'Only with `x-emit-operations: true`. The agent makes these calls itself',
          }),
        }),
        finish_reason: FinishReasonSchema.nullable(),
        logprobs: z.null(),
      }),
    ),
    usage: CompletionUsageSchema.nullish().meta({
      description: 'Only with `include_usage`: null on all but the last chunk',
    }),
    elicitation: ElicitationRequestSchema.optional().meta({
      description: 'A question to the user, and again whenever its status changes',
    }),
  })
  .meta({ id: 'ChatCompletionChunk' });

/** The answer without `stream`. */
export const ChatCompletionSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.literal(0),
        message: z.looseObject({ role: z.literal('assistant'), content: z.string(), refusal: z.null() }),
        finish_reason: FinishReasonSchema,
        logprobs: z.null(),
      }),
    ),
    usage: CompletionUsageSchema,
  })
  .meta({ id: 'ChatCompletion' });

export const ModelSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    images: z.literal(true).optional().meta({ description: 'There where the agent takes images' }),
  })
  .meta({
    id: 'Model',
    examples: [{ id: 'assistant', object: 'model', created: 0, owned_by: 'interlude', images: true }],
  });

export const ModelListSchema = z
  .looseObject({ object: z.literal('list'), data: z.array(ModelSchema) })
  .meta({ id: 'ModelList' });

export type ModelList = z.infer<typeof ModelListSchema>;
