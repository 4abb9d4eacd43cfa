/**
 * What went wrong, as the SDK knows it. Never retryable: whatever is worth another attempt has had it already, under
 * the same name, and a call that the SDK makes again would be another message to the agent.
 */
import { APICallError } from '@ai-sdk/provider';
import { InterludeError } from '../client/interlude-error.ts';
import type { TurnView } from '../client/turn-view.ts';
import type { TurnEnd } from './turn-end.ts';

interface Facts {
  message: string;
  statusCode?: number;
  data?: Record<string, unknown>;
  cause?: unknown;
}

export type CallError = (facts: Facts) => APICallError;

export function createCallError(baseUrl: string): CallError {
  const url = `${baseUrl.replace(/\/+$/, '')}/run/api/chat`;
  // Errors end up in logs; what people say does not belong there.
  return (facts) => new APICallError({ url, requestBodyValues: undefined, isRetryable: false, ...facts });
}

/** A refusal of the service; anything else, such as an error of the consumer's own handler, is left as it is. */
export function fromRefusal(callError: CallError, error: unknown): unknown {
  if (!(error instanceof InterludeError)) return error;
  const { status, code, detail, errors, turnId } = error;
  return callError({
    message: [detail, ...errors.map((field) => `${field.pointer}: ${field.detail}.`)].join(' '),
    ...(status !== 0 && { statusCode: status }),
    data: { code, errors, ...(turnId !== undefined && { turnId }) },
    cause: error,
  });
}

export function fromFailedTurn(
  callError: CallError,
  { conversationId, turnId }: TurnView,
  { error }: TurnEnd,
): APICallError {
  const { errorText: message = 'The turn failed.', code = 'turn_failed' } = error ?? {};
  return callError({ message, data: { code, conversationId, turnId } });
}
