/** Does an answer's content fit what was asked? Checked before anything is stored; the question stays open if not. */
import { coerceContent } from '../elicitation/form/coerce-content.ts';
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { invalidInput, ServiceError } from './service-error.ts';
import { checkForm } from './form-check.ts';

/** The response as it is stored, compared and sent on: its content is what the fields mean, however it was spelled. */
export function fitContent(request: ElicitationRequest, response: ElicitationResponse): ElicitationResponse {
  const { action, content: given } = response;
  if (request.mode !== 'form' || action !== 'accept') {
    if (given === undefined) return response;
    throw invalidInput(['content'], 'only the accept of a form has content');
  }
  if (given === undefined) throw invalidInput(['content'], 'the form needs its content');
  const form = readRequestedSchema(request.requestedSchema);
  // The author of the schema is elsewhere; the person can still say no.
  if (form.kind === 'unsupported')
    throw new ServiceError(
      'invalid_content',
      'This form cannot be read, so it cannot be accepted. Decline it.',
      { cause: form.reason },
    );
  const content = coerceContent(form.fields, given);
  const misfits = checkForm(form.fields, content);
  if (misfits.length === 0) return { ...response, content };
  const issues = misfits.map(({ name, detail }) => ({ path: ['content', name], detail }));
  throw new ServiceError('invalid_content', 'Correct the fields named in errors and send it again.', {
    issues,
  });
}
