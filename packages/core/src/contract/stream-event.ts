/**
 * The schemas of the feed's events. Events of known types are checked; unknown types and unknown members pass, because newer
 * services will send more of both.
 */
import { z } from 'zod';
import { ElicitationStatusSchema, FormRequestSchema, open, UrlRequestSchema } from './elicitation.ts';

const call = { toolCallId: z.string(), toolName: z.string() };

const operation = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, details: Shape) =>
  z.looseObject({
    type: z.literal(type),
    /** For people. */
    label: z.string(),
    details: z.looseObject({ timestamp: z.iso.datetime(), agent: z.string(), ...details }),
  });

/** What the turn is doing, for clients that want to show it. Names and ids only, never contents. */
export const OperationSchema = z
  .discriminatedUnion('type', [
    operation('model_step', { step: z.int().min(0) }),
    operation('tool_call', call),
    /** Repeated under the same id as `progress` grows; `total` is its final value, if known. */
    operation('tool_progress', { ...call, progress: z.number(), total: z.number().optional() }),
    operation('tool_result', { ...call, status: z.enum(['done', 'failed']) }),
    /** A transient state that is not in the log or on the feed; sent again with `over` once a worker is there. */
    operation('waiting_for_worker', { status: z.enum(['waiting', 'over']) }),
    operation('delegation', { toolCallId: z.string(), delegate: z.string() }),
    operation('elicitation', {
      elicitationId: z.string(),
      mode: z.enum(['url', 'form']),
      trigger: z.string(),
      /** Present when a server asks. */
      server: z.string().optional(),
      status: ElicitationStatusSchema,
    }),
  ])
  .meta({ id: 'Operation' });

export type Operation = z.infer<typeof OperationSchema>;

/** The `data` of a part `data-tool-auth-required`, sent to readers that cannot show questions. The part has the id of the tool call. */
export const ToolAuthRequiredSchema = z
  .looseObject({
    server: z.string(),
    serverTitle: z.string(),
    toolName: z.string(),
    /** For the user: what is missing, and where to get it. */
    message: z.string(),
    url: z.url().optional().meta({
      description:
        'Where the person can connect it. Absent where only an operator can: `message` says whom to ask',
    }),
  })
  .meta({ id: 'ToolAuthRequired' });

export type ToolAuthRequired = z.infer<typeof ToolAuthRequiredSchema>;

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
/** Outcomes of failed calls; docs/logs.md says what they mean. */
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
 * A question with only the members that the first specification of this event required. Ours have all members; this lets
 * readers accept events of other services.
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
