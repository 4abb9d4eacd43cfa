/**
 * What a use case refuses or cannot do, in no protocol's terms. Each protocol maps the codes once, in a table of its own:
 * problem documents in `api/http/problems.ts`. The message is for the person who reads it: it names the thing and the
 * remedy, never a token, an answer or what somebody wrote.
 */
import type { Outcome } from '../elicitation/elicitation.ts';

export type ServiceErrorCode =
  | 'invalid_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'cannot_act_for_users'
  | 'person_required'
  | 'unknown_agent'
  | 'unknown_server'
  | 'conversation_not_found'
  | 'turn_not_found'
  | 'turn_in_progress'
  | 'message_id_reused'
  | 'idempotency_key_reused'
  | 'elicitation_not_found'
  | 'approval_not_found'
  | 'not_your_question'
  | 'invalid_content'
  | 'already_answered'
  | 'expired'
  | 'images_not_taken'
  | 'too_many_hops'
  | 'turn_over'
  | 'unavailable';

/** What is wrong with one part of the input of a use case; `path` leads there, and is empty for all of it. */
export interface Issue {
  path: string[];
  detail: string;
}

interface Details {
  issues?: Issue[];
  /** How long to wait before it is worth trying again. */
  retryAfterMs?: number;
  /** The turn that is in the way. */
  turnId?: string;
  /** How the question was settled. */
  outcome?: Outcome;
  cause?: unknown;
}

export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly details: Omit<Details, 'cause'>;

  constructor(code: ServiceErrorCode, message: string, { cause, ...details }: Details = {}) {
    super(message, { cause });
    this.code = code;
    this.details = details;
  }
}

export function invalidInput(path: string[], detail: string): ServiceError {
  return new ServiceError('invalid_request', detail, { issues: [{ path, detail }] });
}
