/** Questions as clients see them, the answers that clients send, and the receipts for these. */
import { z } from 'zod';
import { ClientIdSchema, ElicitationIdSchema, ProblemSchema } from './http.ts';

/** An enum that may grow: unknown values pass. */
export const open = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.union([z.enum(words), z.string()]);

const ContextSchema = z
  .looseObject({
    trigger: open([
      'credential_required',
      'mcp_elicitation',
      'a2a_input_required',
      'a2a_auth_required',
      'tool_elicitation',
      'approval',
      'model_question',
      'frontend_tool',
    ]),
    agent: z.string().optional(),
    path: z.array(z.string()).optional(),
    server: z.string().optional(),
    serverTitle: z.string().optional(),
    host: z.string().optional(),
    colour: z
      .string()
      .optional()
      .meta({ description: 'Of the server, from the agents file, like `#2f6f5e`' }),
    picture: z.string().optional().meta({
      description: 'Of the server, from the agents file: a `data:` URL. Load no other address',
    }),
    toolName: z.string().optional(),
    toolTitle: z.string().optional(),
    toolCallId: z.string().optional().meta({
      description: 'The call it belongs to; where several wait for one account, the one that asked first',
    }),
    reason: open(['missing', 'rejected', 'insufficient_scope', 'revoked']).optional(),
    scopes: z.array(z.string()).optional(),
    warnings: z.array(open(['punycode', 'userinfo', 'ip_host', 'plain_http'])).optional(),
    arguments: z.string().optional().meta({
      description:
        'With trigger `approval`: the arguments of the call as they will be sent, as JSON to be read. To be shown as they are',
    }),
  })
  .meta({
    description: 'Who asks, and why: to be shown before the person decides. Only `trigger` is always there',
  });

export const ElicitationStatusSchema = z.enum(['pending', 'accept', 'decline', 'cancel', 'expired']);

const asked = {
  type: z.literal('elicitation-request'),
  elicitationId: z.string(),
  message: z.string(),
  context: ContextSchema,
  status: ElicitationStatusSchema,
  expiresAt: z.iso.datetime(),
  because: open(['server_gave_up', 'server_gone'])
    .optional()
    .describe('Why it closed without an answer, where it was neither the clock nor the end of the turn'),
};

export const UrlRequestSchema = z.looseObject({ ...asked, mode: z.literal('url'), url: z.url() });
export const FormRequestSchema = z.looseObject({
  ...asked,
  mode: z.literal('form'),
  requestedSchema: z.record(z.string(), z.unknown()),
});

export const ElicitationRequestSchema = z
  .discriminatedUnion('mode', [UrlRequestSchema, FormRequestSchema])
  .meta({
    id: 'ElicitationRequest',
    description: 'A question to a person. Sent when it opens and again whenever its status changes',
    examples: [
      {
        type: 'elicitation-request',
        elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
        mode: 'url',
        message: 'Tracker needs your account to list issues.',
        url: 'https://interlude.example/auth/connect?e=0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
        context: {
          trigger: 'credential_required',
          agent: 'Assistant',
          server: 'tracker',
          serverTitle: 'Tracker',
          host: 'tracker.example',
          toolName: 'list_issues',
          toolCallId: 'call_1',
          reason: 'missing',
        },
        status: 'pending',
        expiresAt: '2026-11-21T12:10:00.000Z',
      },
    ],
  });

/** The `_meta` key in the requests with which our MCP server asks its clients. */
export const questionMetaKey = 'interlude/question';

export const QuestionMetaSchema = z
  .looseObject({
    version: z.literal(1),
    elicitationId: z.string(),
    expiresAt: z.iso.datetime(),
    context: ContextSchema,
  })
  .meta({ description: 'Who asks, and why, in `_meta["interlude/question"]` of an MCP request' });

export type ElicitationRequest = z.infer<typeof ElicitationRequestSchema>;

export const ElicitationListSchema = z
  .looseObject({ items: z.array(ElicitationRequestSchema), next: z.null() })
  .meta({ id: 'ElicitationList' });

const place = {
  conversationId: z.string().meta({ description: 'Where it was asked; its answer names it, too' }),
  turnId: z.string(),
};

/** A question outside its conversation, with the ids of conversation and turn. */
export const PlacedElicitationSchema = z
  .discriminatedUnion('mode', [UrlRequestSchema.extend(place), FormRequestSchema.extend(place)])
  .meta({ id: 'PlacedElicitation', description: 'A question, and the conversation in which it was asked' });

export type PlacedElicitation = z.infer<typeof PlacedElicitationSchema>;

export const PlacedElicitationListSchema = z
  .looseObject({ items: z.array(PlacedElicitationSchema), next: z.null() })
  .meta({ id: 'PlacedElicitationList' });

export type PlacedElicitationList = z.infer<typeof PlacedElicitationListSchema>;

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

/** `content` is only allowed with `accept` of a form. */
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

/** Answers to several questions at once. */
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

/** One item per answer, in the order of the request: a receipt or a problem. */
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
