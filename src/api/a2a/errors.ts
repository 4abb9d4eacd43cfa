/** What went wrong, in the errors of the A2A specification (1.0, section 3.3.2): one table for all that a use case refuses. */
import {
  A2AError,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { ServiceError } from '../../service/service-error.ts';
import type { ServiceErrorCode } from '../../service/service-error.ts';

type Make = (message: string) => A2AError;

const malformed: Make = (message) => new RequestMalformedError(message);
const unsupported: Make = (message) => new UnsupportedOperationError(message);
const internal: Make = (message) => new A2AError(message);

const errors = {
  invalid_request: malformed,
  invalid_content: malformed,
  unauthenticated: internal,
  forbidden: unsupported,
  cannot_act_for_users: unsupported,
  person_required: unsupported,
  unknown_agent: malformed,
  unknown_server: malformed,
  conversation_not_found: malformed,
  turn_not_found: malformed,
  turn_in_progress: unsupported,
  message_id_reused: malformed,
  idempotency_key_reused: malformed,
  elicitation_not_found: (message) => new TaskNotFoundError(message),
  approval_not_found: malformed,
  not_your_question: (message) => new TaskNotFoundError(message),
  already_answered: unsupported,
  expired: unsupported,
  images_not_taken: (message) => new ContentTypeNotSupportedError(message),
  too_many_hops: unsupported,
  turn_over: unsupported,
} satisfies Record<Exclude<ServiceErrorCode, 'unavailable'>, Make>;

/**
 * Null for unexpected errors, and for an outage of what we depend on, which the specification has no error for: the
 * transports answer that with a status of theirs, and say when to try again.
 */
export function toA2AError(error: unknown): A2AError | null {
  if (error instanceof A2AError) return error;
  if (!(error instanceof ServiceError) || error.code === 'unavailable') return null;
  const { code, message, details } = error;
  const issues = details.issues?.map(({ path, detail }) => `${path.join('.')}: ${detail}`) ?? [];
  return errors[code](issues.length > 0 ? issues.join('; ') : wordsOf(code, message, details.turnId));
}

function wordsOf(code: ServiceErrorCode, message: string, turnId: string | undefined): string {
  switch (code) {
    case 'turn_in_progress':
      return `This context is still at work on task ${turnId ?? ''}. Wait for it to end or cancel it, or begin a new context.`;
    case 'idempotency_key_reused':
    case 'message_id_reused':
      return 'This messageId belongs to another message. Choose a new one for each message.';
    case 'conversation_not_found':
      return 'You have no context with this id. Leave contextId out to begin a new one.';
    default:
      return message;
  }
}

/** Of a message that the SDK's codecs cannot read. */
export function unreadable(): A2AError {
  return new RequestMalformedError('What was sent is not in the form that the specification gives it.');
}

export function isOutage(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable';
}

/** The answer to an unexpected error. */
export function internalError(): A2AError {
  return new A2AError('This was not your fault. Try again; if it keeps happening, tell the operator.');
}
