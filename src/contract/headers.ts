/** The request headers that mean something to us. Whatever else comes along is let through. */
import { z } from 'zod';

/** Names the request, so that it can be sent again safely for a day. */
const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .meta({
    examples: ['3f6c2a1e-9d0b-4c57-8e52-6f1f0d1b7a90'],
    description: 'Names the request: sent again within a day, it is the same request, not another one',
  });

/** What is not understood is refused: a client that gets the words wrong would only notice that nobody is ever asked. */
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

export const ReaderHeadersSchema = z.looseObject({
  'x-supports-elicitation': supportsElicitation,
  'x-emit-operations': emitOperations,
  'x-supports-reset-step': supportsResetStep,
  'x-supports-tool-approval': supportsToolApproval,
});

export const TurnHeadersSchema = ReaderHeadersSchema.extend({ 'idempotency-key': idempotencyKey });

export const AnswerHeadersSchema = z.looseObject({ 'idempotency-key': idempotencyKey });
