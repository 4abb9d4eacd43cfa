/** What operators see: turns and questions of all users of a tenant, and the health of a process. */
import { z } from 'zod';
import { pageLimit, nextPage } from './conversations.ts';
import { ElicitationStatusSchema, open } from './elicitation.ts';
import { AgentNameSchema, ElicitationIdSchema } from './http.ts';

/** Without control and format characters and lone surrogates: some of them make a database query fail. */
const name = z.string().regex(/^[^\p{C}]{1,255}$/u, 'use 1–255 visible characters');
const time = (description: string) =>
  z.iso
    .datetime('send a time in ISO 8601, in UTC')
    .optional()
    .meta({ description, examples: ['2026-11-21T12:00:00.000Z'] });

const search = {
  user: name.optional().meta({ description: 'Whose: a user id', examples: ['alice'] }),
  agent: AgentNameSchema.regex(/^[^\p{C}]+$/u, 'use visible characters')
    .optional()
    .meta({ description: 'The agent that was asked', examples: ['assistant'] }),
  server: name
    .optional()
    .meta({ description: 'A server, or a delegated agent, that was called', examples: ['tracker'] }),
  since: time('Accepted at this time or later'),
  until: time('Accepted before this time'),
  limit: pageLimit('How many at most'),
};

export const turnStates = [
  'waiting',
  'working',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
  'superseded',
] as const;

export const TurnSearchSchema = z.object({
  ...search,
  service: name.optional().meta({
    description: 'Whose: the service of an API key that calls for no user',
    examples: ['billing'],
  }),
  state: z
    .enum(turnStates)
    .optional()
    .meta({
      description: '`waiting`: it goes on, and has an open question; `cancelling`: it is about to end',
      examples: ['waiting'],
    }),
});

export const QuestionSearchSchema = z.object({
  ...search,
  agent: search.agent.meta({ description: 'The agent that asks', examples: ['assistant'] }),
  server: search.server.meta({
    description: 'The server that asks, or whose account is missing',
    examples: ['tracker'],
  }),
  since: time('Asked at this time or later'),
  until: time('Asked before this time'),
  status: ElicitationStatusSchema.optional().meta({ description: 'Only these', examples: ['pending'] }),
});

export const TurnParamsSchema = z.object({
  turn: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'this is not the id of a turn')
    .meta({ description: 'The turn', examples: ['5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11'] }),
});

export const QuestionParamsSchema = z.object({
  elicitation: ElicitationIdSchema.meta({ examples: ['0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90'] }),
});

const SeenQuestionSchema = z
  .looseObject({
    elicitationId: z.string(),
    turnId: z.string(),
    conversationId: z.string(),
    agent: z.string().meta({ description: 'The agent that asks, which may be a delegated one' }),
    user: z.string().meta({ description: 'Who was asked' }),
    mode: z.enum(['url', 'form']),
    trigger: open(['credential_required', 'mcp_elicitation', 'tool_elicitation', 'approval']),
    server: z.string().nullable(),
    toolName: z.string().nullable(),
    reason: open(['missing', 'rejected', 'insufficient_scope', 'revoked'])
      .nullable()
      .meta({ description: 'Why an account is asked for; null: it asks for none' }),
    status: ElicitationStatusSchema,
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    settledAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'SeenQuestion', description: 'A question, without its contents' });

export type SeenQuestion = z.infer<typeof SeenQuestionSchema>;

const SeenTurnSchema = z
  .looseObject({
    turnId: z.string(),
    conversationId: z.string(),
    agent: z.string(),
    user: z.string().nullable().meta({ description: 'For whom; null: for a service' }),
    service: z.string().nullable().meta({ description: 'For which service; null: for a user' }),
    state: z.enum(turnStates),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    waitsFor: z.array(SeenQuestionSchema).meta({ description: 'Its open questions, oldest first' }),
  })
  .meta({ id: 'SeenTurn' });

export type SeenTurn = z.infer<typeof SeenTurnSchema>;

export const SeenTurnListSchema = z
  .looseObject({ items: z.array(SeenTurnSchema), next: nextPage })
  .meta({ id: 'SeenTurnList' });

export const SeenQuestionListSchema = z
  .looseObject({ items: z.array(SeenQuestionSchema), next: nextPage })
  .meta({ id: 'SeenQuestionList' });

export const TimelineSchema = z
  .looseObject({
    turn: SeenTurnSchema,
    waitedMs: z.int().min(0).meta({ description: 'For how long questions were open' }),
    traceUrl: z.string().nullable().meta({ description: 'Where its trace is shown; null: not known' }),
    temporalUrl: z
      .string()
      .nullable()
      .meta({ description: 'Its workflow in Temporal’s UI; null: not known' }),
    items: z.array(
      z.looseObject({
        kind: open([
          'started',
          'step',
          'call',
          'delegation',
          'question',
          'not-asked',
          'error',
          'act',
          'ended',
        ]),
        title: z.string().meta({ description: 'For people' }),
        notes: z.array(z.string()).meta({ description: 'For people' }),
        at: z.iso.datetime(),
        endedAt: z.iso.datetime().nullable(),
        outcome: z
          .string()
          .optional()
          .meta({ description: 'How a call ended that has no result: a code, as in the log' }),
        path: z.array(z.string()).meta({ description: 'The delegated agent that does it, outermost first' }),
        contents: z
          .array(z.looseObject({ label: z.string(), text: z.string() }))
          .optional()
          .meta({ description: 'What was said, called or answered; only where contents were asked for' }),
      }),
    ),
  })
  .meta({ id: 'TurnTimeline', description: 'What happened in a turn, in order' });

export type Timeline = z.infer<typeof TimelineSchema>;

export const CancelledTurnSchema = z
  .looseObject({
    turnId: z.string(),
    status: z.enum(['cancelling', 'over']).meta({ description: '`over`: it had ended before' }),
  })
  .meta({ id: 'CancelledTurn' });

export const ExpiredQuestionSchema = z
  .looseObject({
    elicitationId: z.string(),
    status: ElicitationStatusSchema,
    changed: z.boolean().meta({ description: 'False: it had been settled before' }),
  })
  .meta({ id: 'ExpiredQuestion' });

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
