/** Does an answer's content fit what was asked? Checked before anything is stored; the question stays open if not. */
import { z } from 'zod';
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';
import { firstOf, invalidRequest, ProblemError, toPointer } from './errors.ts';

/** `pointer`: where in the request the answer stands. */
export function checkContent(
  request: ElicitationRequest,
  { action, content }: ElicitationResponse,
  pointer = '',
): void {
  const at = `${pointer}/content`;
  const wantsContent = request.mode === 'form' && action === 'accept';
  if (!wantsContent) {
    if (content === undefined) return;
    throw invalidRequest([{ pointer: at, detail: 'only the accept of a form has content' }]);
  }
  if (content === undefined) throw invalidRequest([{ pointer: at, detail: 'the form needs its content' }]);
  const nested = Object.entries(content).filter(([, value]) => !isFlat(value));
  if (nested.length > 0)
    throw invalidContent(
      at,
      nested.map(([name]) => ({ path: [name], message: 'use a text, number, yes/no or list of texts' })),
    );
  const issues = schemaOf(request.requestedSchema).safeParse(content).error?.issues ?? [];
  if (issues.length > 0) throw invalidContent(at, issues);
}

/** What a form can ask for (MCP's subset), also where its schema leaves room for more. */
function isFlat(value: unknown): boolean {
  return Array.isArray(value)
    ? value.every((item) => typeof item === 'string')
    : ['string', 'number', 'boolean'].includes(typeof value);
}

function invalidContent(at: string, issues: { path: PropertyKey[]; message: string }[]): ProblemError {
  const errors = issues.map(({ path, message }) => ({
    pointer: `${at}${toPointer(path)}`,
    detail: message,
  }));
  return new ProblemError('invalid_content', 'Correct the fields named in errors and send it again.', {
    members: { errors: firstOf(errors) },
  });
}

function schemaOf(requestedSchema: Record<string, unknown>): z.ZodType {
  try {
    return z.fromJSONSchema(requestedSchema);
  } catch (cause) {
    // The author of the schema is elsewhere; the person can still say no.
    throw new ProblemError(
      'invalid_content',
      'This form cannot be read, so it cannot be accepted. Decline it.',
      { cause },
    );
  }
}
