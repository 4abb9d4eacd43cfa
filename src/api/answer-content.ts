/** Does an answer's content fit what was asked? Checked before anything is stored; the question stays open if not. */
import { z } from 'zod';
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';
import { invalidRequest, ProblemError, toPointer } from './errors.ts';

export function checkContent(request: ElicitationRequest, { action, content }: ElicitationResponse): void {
  const wantsContent = request.mode === 'form' && action === 'accept';
  if (!wantsContent) {
    if (content === undefined) return;
    throw invalidRequest([{ pointer: '/content', detail: 'only the accept of a form has content' }]);
  }
  if (content === undefined)
    throw invalidRequest([{ pointer: '/content', detail: 'the form needs its content' }]);
  const issues = schemaOf(request.requestedSchema).safeParse(content).error?.issues ?? [];
  if (issues.length === 0) return;
  const errors = issues.map(({ path, message }) => ({
    pointer: `/content${toPointer(path)}`,
    detail: message,
  }));
  throw new ProblemError('invalid_content', 'Correct the fields named in errors and send it again.', {
    members: { errors },
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
