/** Does an answer's content fit what was asked? Checked before anything is stored; the question stays open if not. */
import { coerceContent } from '../elicitation/form/coerce-content.ts';
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { firstOf, invalidRequest, ProblemError, toPointer } from '../api/http/problems.ts';
import { checkForm } from '../api/form-check.ts';

/**
 * The response as it is stored, compared and sent on: its content is what the fields mean, however it was spelled.
 * `pointer`: where in the request the answer stands.
 */
export function fitContent(
  request: ElicitationRequest,
  response: ElicitationResponse,
  pointer = '',
): ElicitationResponse {
  const { action, content: given } = response;
  const at = `${pointer}/content`;
  if (request.mode !== 'form' || action !== 'accept') {
    if (given === undefined) return response;
    throw invalidRequest([{ pointer: at, detail: 'only the accept of a form has content' }]);
  }
  if (given === undefined) throw invalidRequest([{ pointer: at, detail: 'the form needs its content' }]);
  const form = readRequestedSchema(request.requestedSchema);
  // The author of the schema is elsewhere; the person can still say no.
  if (form.kind === 'unsupported')
    throw new ProblemError(
      'invalid_content',
      'This form cannot be read, so it cannot be accepted. Decline it.',
      { cause: form.reason },
    );
  const content = coerceContent(form.fields, given);
  const misfits = checkForm(form.fields, content);
  if (misfits.length === 0) return { ...response, content };
  const errors = misfits.map(({ name, detail }) => ({ pointer: at + toPointer([name]), detail }));
  throw new ProblemError('invalid_content', 'Correct the fields named in errors and send it again.', {
    members: { errors: firstOf(errors) },
  });
}
