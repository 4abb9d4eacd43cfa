/**
 * The extension by which callers get questions and give answers in a form that programs read: docs/a2a-elicitation.md.
 * Pure.
 */
import { z } from 'zod';
import { presentMembers } from '../elicitation/form/schema-keywords.ts';
import type { ElicitationEvent, ElicitationResponse } from '../elicitation/elicitation.ts';

export const elicitationExtension = 'urn:interlude:a2a:elicitation:v1';

/** A question, as it stands in the metadata and in a data part of a status message. */
export function toStructured(question: ElicitationEvent, misfit?: string): Record<string, unknown> {
  const { elicitationId, mode, message, expiresAt, context } = question;
  const shape = mode === 'form' ? { requestedSchema: question.requestedSchema } : { url: question.url };
  return {
    elicitationId,
    mode,
    message,
    ...shape,
    expiresAt,
    context,
    ...(misfit !== undefined && { misfit }),
  };
}

const AnswerSchema = z.object({
  elicitationId: z.string().optional(),
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).optional(),
  remember: z.enum(['conversation', 'always']).optional(),
  reason: z.string().max(1_000).optional(),
});

export interface StructuredAnswer {
  elicitationId: string | undefined;
  response: ElicitationResponse;
}

/** Null for what is not an answer at all; an answer that is one in part is refused as a whole. */
export function readStructured(value: unknown): StructuredAnswer | 'malformed' | null {
  if (typeof value !== 'object' || value === null || !('action' in value)) return null;
  const parsed = AnswerSchema.safeParse(presentMembers(value));
  if (!parsed.success) return 'malformed';
  const { elicitationId, action, content, remember, reason } = parsed.data;
  return {
    elicitationId,
    response: {
      action,
      ...(content !== undefined && { content }),
      ...(remember !== undefined && { remember }),
      ...(reason !== undefined && { reason }),
    },
  };
}
