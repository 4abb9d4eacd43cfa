/**
 * The schemas of the feed's events. Events of known types are checked; unknown types and unknown members pass, because newer
 * services will send more of both.
 */
import { z } from 'zod';
import { FormRequestSchema, open, UrlRequestSchema } from './elicitation.ts';
import { OperationSchema } from './operation.ts';

/** On every event. */
const common = {
  turnId: z.string(),
  /** Which delegated agent it comes from, outermost first; absent for the turn's own agent. */
  path: z.array(z.string()).optional(),
  /** The call that delegated to it: tells apart two delegations to one agent. */
  parentToolCallId: z.string().optional(),
  at: z.iso.datetime(),
};

const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.looseObject({ type: z.literal(type), ...common, ...shape });

const part = { id: z.string() };
const call = { toolCallId: z.string(), toolName: z.string() };
/** Those of failures; docs/logs.md says what they mean. */
const toolOutcomes = [
  'tool_error',
  'decline',
  'cancel',
  'expired',
  'not_asked',
  'not_allowed',
  'refused',
  'unreachable',
  'unknown',
  'stopped',
  'failed',
] as const;
const step = { step: z.int().min(0) };

export const KnownEventSchema = z.discriminatedUnion('type', [
  event('turn-started', { agent: z.string(), messageId: z.string() }),
  event('start-step', step),
  event('text-start', part),
  event('text-delta', { ...part, delta: z.string() }),
  event('text-end', part),
  event('reasoning-start', part),
  event('reasoning-delta', { ...part, delta: z.string() }),
  event('reasoning-end', part),
  event('tool-input-available', { ...call, input: z.unknown(), agent: z.string().optional() }),
  event('tool-output-available', { ...call, output: z.unknown() }),
  event('tool-output-error', { ...call, errorText: z.string(), outcome: open(toolOutcomes).optional() }),
  event('tool-progress', {
    ...call,
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  event('elicitation-consented', { elicitationId: z.string() }),
  event('tool-auth-required', {
    ...call,
    server: z.string(),
    serverTitle: z.string(),
    message: z.string(),
    url: z.url().optional(),
  }),
  event('finish-step', { ...step, finish: open(['length', 'refused']).optional() }),
  /** What this step said so far is void: the model call was repeated. */
  event('reset-step', step),
  event('data-operation', { id: z.string(), data: OperationSchema }),
  event('error', { code: z.string(), errorText: z.string() }),
  event('turn-ended', {
    status: z.enum(['completed', 'failed', 'cancelled', 'superseded']),
    usage: z.looseObject({ inputTokens: z.int().min(0), outputTokens: z.int().min(0) }).optional(),
  }),
  z.discriminatedUnion('mode', [UrlRequestSchema.extend(common), FormRequestSchema.extend(common)]),
]);

const known = new Set(KnownEventSchema.options.flatMap((option) => typesOf(option)));

/**
 * A question with the members that the first description of this event required, and no others. Ours have all of them; a
 * reader that takes events of other services, too, needs to know no more than this.
 */
const optional = { turnId: true, at: true, context: true, status: true, expiresAt: true } as const;
const MinimalRequestSchema = z.discriminatedUnion('mode', [
  UrlRequestSchema.extend(common).partial(optional),
  FormRequestSchema.extend(common).partial(optional),
]);

/** Excludes the known types: a malformed event of a known type must not pass as unknown. */
const UnknownEventSchema = z.looseObject({
  type: z.string().refine((type) => !known.has(type), { error: 'malformed', abort: true }),
});

export const StreamEventSchema = z.union([KnownEventSchema, MinimalRequestSchema, UnknownEventSchema]).meta({
  id: 'StreamEvent',
  description: 'One event of the feed. Unknown types are to be ignored.',
  examples: [
    {
      type: 'text-delta',
      id: 'text-1',
      delta: 'Hello! What ',
      turnId: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11',
      at: '2026-11-21T12:00:01.250Z',
    },
  ],
});

export type StreamEvent = z.infer<typeof KnownEventSchema>;

function typesOf(option: (typeof KnownEventSchema)['options'][number]): string[] {
  const [first] = 'options' in option ? option.options : [option];
  return first ? [...first.shape.type.values] : [];
}
