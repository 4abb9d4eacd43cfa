/** What the service refuses, as errors of ACP. Their words are for people, on one line, and never hold a token. Pure. */
import { RequestError } from '@agentclientprotocol/sdk';
import { InterludeError } from '../../client/interlude-error.ts';

const resourceNotFound = -32002;

/** The SDK would tell the client all of an error that is not its own. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if (error instanceof InterludeError) throw toRequestError(error);
    throw internalError(error instanceof Error ? error.message : 'Something went wrong.');
  }
}

export function toRequestError({ status, code, detail }: InterludeError, sessionId = ''): RequestError {
  const words = onOneLine(detail);
  if (status === 401) return RequestError.authRequired({ code }, words);
  if (code === 'conversation_not_found') return sessionNotFound(sessionId);
  return status >= 400 && status < 500 && status !== 429
    ? RequestError.invalidParams({ code }, words)
    : RequestError.internalError({ code }, words);
}

export function sessionNotFound(sessionId: string): RequestError {
  const words = 'Resource not found: there is no such session, or it is not open on this connection.';
  return new RequestError(resourceNotFound, words, { sessionId });
}

export function internalError(words: string): RequestError {
  return RequestError.internalError(undefined, onOneLine(words));
}

function onOneLine(words: string): string {
  return words.replaceAll(/\s+/g, ' ').trim();
}
