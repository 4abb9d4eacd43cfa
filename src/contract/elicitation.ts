/** A question as clients see it. */
import { z } from 'zod';

/** Words that may become more: an unknown one is let through. */
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
    ]),
    agent: z.string().optional(),
    path: z.array(z.string()).optional(),
    server: z.string().optional(),
    serverTitle: z.string().optional(),
    host: z.string().optional(),
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

/** In `_meta` of the requests by which our MCP server asks its clients. */
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

/** A question by itself, with what names its conversation. */
export const PlacedElicitationSchema = z
  .discriminatedUnion('mode', [UrlRequestSchema.extend(place), FormRequestSchema.extend(place)])
  .meta({ id: 'PlacedElicitation', description: 'A question, and the conversation in which it was asked' });

export type PlacedElicitation = z.infer<typeof PlacedElicitationSchema>;

export const PlacedElicitationListSchema = z
  .looseObject({ items: z.array(PlacedElicitationSchema), next: z.null() })
  .meta({ id: 'PlacedElicitationList' });

export type PlacedElicitationList = z.infer<typeof PlacedElicitationListSchema>;
