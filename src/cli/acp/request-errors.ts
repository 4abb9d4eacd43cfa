/** What the service refuses, as errors of ACP. Their words are for people and never hold a token. Pure. */
import { RequestError } from '@agentclientprotocol/sdk';
import { InterludeError } from '../../client/interlude-error.ts';

const internalError = -32603;
const resourceNotFound = -32002;

export function toRequestError(error: InterludeError, sessionId?: string): RequestError {
  const { status, code, detail } = error;
  if (status === 401) return RequestError.authRequired({ code }, detail);
  if (code === 'conversation_not_found') return sessionNotFound(sessionId ?? '');
  if (status >= 400 && status < 500 && status !== 429) return RequestError.invalidParams({ code }, detail);
  return new RequestError(internalError, detail, { code });
}

/** Of anything else: an error that says nothing of the inside, in place of the SDK's, which tells all of it. */
export function asRequestError(error: unknown, sessionId?: string): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof InterludeError) return toRequestError(error, sessionId);
  return new RequestError(internalError, error instanceof Error ? error.message : 'Something went wrong.');
}

export function sessionNotFound(sessionId: string): RequestError {
  const words = 'Resource not found: there is no such session, or it is not open on this connection.';
  return new RequestError(resourceNotFound, words, { sessionId });
}
