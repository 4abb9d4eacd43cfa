/**
 * What a client of another protocol answers, as the service takes it: clients differ in what they send where there is no
 * content to give.
 */
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';

export function fittedResponse(
  { mode }: Pick<ElicitationRequest, 'mode'>,
  { content = {}, ...rest }: ElicitationResponse,
): ElicitationResponse {
  return mode === 'form' && rest.action === 'accept' ? { ...rest, content } : rest;
}
