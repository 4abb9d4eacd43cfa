/** What the requests and errors of all routes share: ids, headers and problem documents. */
import { z } from 'zod';

const form = /^[A-Za-z0-9._:-]{1,128}$/;

/** Ids that clients choose: conversations, messages. */
export const ClientIdSchema = z
  .string()
  .regex(form, 'use 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-"')
  .meta({ description: 'Chosen by the client' });

/** Ids that we chose and clients send back. The form is checked because some texts make a database query fail. */
export const ElicitationIdSchema = z
  .string()
  .regex(form, 'this is not the id of a question')
  .meta({ description: '`elicitationId` of the question' });

/** Agents' own names are shorter. */
export const AgentNameSchema = z.string().min(1).max(128, 'no agent has a name that long');

export const ConversationParamsSchema = z.object({
  conversation: ClientIdSchema.meta({ description: 'The conversation', examples: ['demo-1'] }),
});

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .meta({
    examples: ['3f6c2a1e-9d0b-4c57-8e52-6f1f0d1b7a90'],
    description: 'Names the request: sent again within a day, it is the same request, not another one',
  });

/** Invalid values are refused: ignored, a client with a typo would only notice that no question ever comes. */
const words = (allowed: RegExp, inWords: string) =>
  z.string().regex(allowed, { error: `say ${inWords}, or leave the header out` });
const yesOrNo = words(/^(?:true|false)$/i, '`true` or `false`');

const supportsElicitation = words(
  /^(?:true|false|(?:url|form)(?: *, *(?:url|form))*)$/i,
  '`true`, `url`, `form`, `url,form` or `false`',
)
  .optional()
  .meta({
    examples: ['true'],
    description:
      'Which questions the caller can put in front of a person: `true`, `url`, `form` or `url,form`. Absent: none, and nobody is asked',
  });

const emitOperations = yesOrNo.optional().meta({
  examples: ['true'],
  description: '`true` adds events that say what the turn is doing',
});

const supportsResetStep = yesOrNo.optional().meta({
  examples: ['true'],
  description:
    '`true`: the caller reads the part `reset-step` of a UI message stream, as AI SDK 7 does, and takes back what a model call said before it was repeated',
});

const supportsToolApproval = yesOrNo.optional().meta({
  examples: ['true'],
  description:
    '`true`: the caller reads the part `tool-approval-request` of a UI message stream, as AI SDK 6 and 7 do. It comes beside the question, and shows their approval cards. `addToolApprovalResponse` alone does not answer while the stream is open, because the SDK sends nothing before it ends: post the answer to `/run/api/elicitation-responses`',
});

const userLanguage = words(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/, 'a language, such as `de` or `en-GB`')
  .optional()
  .meta({
    examples: ['de'],
    description:
      'The language of the person who reads this: the service’s own sentences are then written to them, in English or German, and errors of tool calls no longer for the model. English for languages that the service does not have',
  });

export const LanguageHeadersSchema = z.looseObject({ 'x-user-language': userLanguage });

export const ReaderHeadersSchema = LanguageHeadersSchema.extend({
  'x-supports-elicitation': supportsElicitation,
  'x-emit-operations': emitOperations,
  'x-supports-reset-step': supportsResetStep,
  'x-supports-tool-approval': supportsToolApproval,
});

export const TurnHeadersSchema = ReaderHeadersSchema.extend({ 'idempotency-key': idempotencyKey });

export const AnswerHeadersSchema = z.looseObject({ 'idempotency-key': idempotencyKey });

/** Errors as problem documents (RFC 9457). */
export const ProblemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: 'Stable, to decide by' }),
    detail: z.string().meta({ description: 'For people: names the thing and the remedy' }),
    errors: z
      .array(z.looseObject({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'What is wrong with which field, as JSON pointers (RFC 6901)' }),
    turnId: z.string().optional().meta({ description: 'The live turn, when the conversation is busy' }),
  })
  .meta({
    id: 'Problem',
    description: 'What went wrong, as a problem document (RFC 9457)',
    examples: [
      {
        type: 'urn:interlude:problem:invalid_request',
        title: 'The request is not valid',
        status: 400,
        code: 'invalid_request',
        detail: "/messages/0/role: the last message has to be the user's",
        errors: [{ pointer: '/messages/0/role', detail: "the last message has to be the user's" }],
      },
    ],
  });
