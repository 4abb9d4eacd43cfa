/** Checks an answer's content against the question before anything is stored. If it does not fit, the question stays open. */
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import type { ApprovalDetails } from '@interlude-ai/core/elicitation/approval.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import type { ElicitationRequest, ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { plainText } from '@interlude-ai/core/elicitation/plain-text.ts';
import { invalidInput, ServiceError } from './service-error.ts';
import { checkForm } from '@interlude-ai/core/form-check.ts';

/** The response as it is stored, compared and sent on: values of the fields' types, not as the client spelled them. */
export function fitContent(request: ElicitationRequest, response: ElicitationResponse): ElicitationResponse {
  if (isApproval(request.context)) return approvalResponse(response);
  const { action, content: given, remember, reason } = response;
  if (remember !== undefined)
    throw invalidInput(['remember'], 'only the accept of an approval is remembered');
  if (reason !== undefined) throw invalidInput(['reason'], 'only the decline of an approval has a reason');
  if (request.mode !== 'form' || action !== 'accept') {
    if (given === undefined) return response;
    throw invalidInput(['content'], 'only the accept of a form has content');
  }
  if (given === undefined) throw invalidInput(['content'], 'the form needs its content');
  const form = readRequestedSchema(request.requestedSchema);
  // The schema comes from a remote server; the person can still decline.
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

/**
 * Stored like the content of a form. Clients without support for approvals send the empty content of a form without fields.
 */
function approvalResponse({
  action,
  content = {},
  remember,
  reason,
}: ElicitationResponse): ElicitationResponse {
  if (Object.keys(content).length > 0)
    throw invalidInput(['content'], 'an approval has no fields; send remember or reason instead');
  if (remember !== undefined && action !== 'accept')
    throw invalidInput(['remember'], 'only the accept of an approval is remembered');
  if (reason !== undefined && action !== 'decline')
    throw invalidInput(['reason'], 'only the decline of an approval has a reason');
  const why = reason?.trim();
  const details: ApprovalDetails = { ...(remember && { remember }), ...(why && { reason: plainText(why) }) };
  return Object.keys(details).length === 0 ? { action } : { action, content: { ...details } };
}

/** Clients of other protocols differ in what they send where there is no content: makes their responses uniform. */
export function fittedResponse(
  { mode }: Pick<ElicitationRequest, 'mode'>,
  { content = {}, ...rest }: ElicitationResponse,
): ElicitationResponse {
  return mode === 'form' && rest.action === 'accept' ? { ...rest, content } : rest;
}
