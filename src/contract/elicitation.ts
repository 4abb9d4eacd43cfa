/** A question as clients see it, and the answer they send. */
import { z } from 'zod';
import { ClientIdSchema, ElicitationIdSchema } from './ids.ts';

/** Words that may become more: an unknown one is let through. */
const open = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.union([z.enum(words), z.string()]);

const ContextSchema = z
  .looseObject({
    trigger: open([
      'credential_required',
      'mcp_elicitation',
      'a2a_input_required',
      'a2a_auth_required',
      'tool_elicitation',
    ]),
    agent: z.string(),
    path: z.array(z.string()).optional(),
    server: z.string(),
    serverTitle: z.string(),
    host: z.string(),
    toolName: z.string().optional(),
    reason: open(['missing', 'rejected', 'insufficient_scope', 'revoked']).optional(),
    scopes: z.array(z.string()).optional(),
    warnings: z.array(open(['punycode', 'userinfo', 'ip_host', 'plain_http'])).optional(),
  })
  .meta({ description: 'Who asks, and why: to be shown before the person decides' });

export const ElicitationStatusSchema = z.enum(['pending', 'accept', 'decline', 'cancel', 'expired']);

const asked = {
  type: z.literal('elicitation-request'),
  elicitationId: z.string(),
  message: z.string(),
  context: ContextSchema,
  status: ElicitationStatusSchema,
  expiresAt: z.iso.datetime(),
};

export const UrlRequestSchema = z.looseObject({ ...asked, mode: z.literal('url'), url: z.url() });
export const FormRequestSchema = z.looseObject({
  ...asked,
  mode: z.literal('form'),
  requestedSchema: z.record(z.string(), z.unknown()),
});

/** Sent when the question opens and again whenever its status changes. */
export const ElicitationRequestSchema = z
  .discriminatedUnion('mode', [UrlRequestSchema, FormRequestSchema])
  .meta({ id: 'ElicitationRequest' });

/** What a person decided. `content` only with `accept` of a form. */
export const ElicitationResponseSchema = z
  .strictObject({
    conversationId: ClientIdSchema,
    elicitationId: ElicitationIdSchema,
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ElicitationResponse' });

export const ElicitationReceiptSchema = z
  .looseObject({
    elicitationId: z.string(),
    /** `received`: stored, and not yet confirmed by the turn. */
    status: z.enum(['pending', 'received', 'accept', 'decline', 'cancel', 'expired']),
    duplicate: z.boolean().optional(),
    /** Consent is on record; the turn goes on once the account is connected. */
    awaiting: z.literal('connection').optional(),
  })
  .meta({ id: 'ElicitationReceipt' });
