/**
 * What a use case refuses or cannot do, in no protocol's terms. Each protocol maps the codes in one table, such as
 * `api/http/problems.ts`. The message is for the person who reads it: it names the thing and the remedy, never a token, an
 * answer or a user's text.
 */
import type { Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';

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
  | 'rate_limited'
  | 'unavailable';

/** A problem with one part of a use case's input. `path` is empty for the whole input. */
export interface Issue {
  path: string[];
  detail: string;
}

interface Details {
  issues?: Issue[];
  /** How long to wait before trying again. */
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

/** What the refusal of an answer means for its question. Each surface has its own words and pages for it. */
type RefusedAnswer =
  /** The question stays open, and may be answered again. `reasons`: the issues as one text. */
  | { kind: 'misfit'; message: string; issues: Issue[]; reasons: string }
  /** The question stays open; only the person can give this answer, signed in. */
  | { kind: 'person'; message: string }
  /** The question is closed, was answered differently elsewhere, or is overdue and will expire. */
  | { kind: 'over'; message: string; outcome: Outcome };

/** Null for an error that says nothing about the question. */
export function refusedAnswer(error: unknown): RefusedAnswer | null {
  if (!(error instanceof ServiceError)) return null;
  const { code, message, details } = error;
  switch (code) {
    case 'invalid_content':
    case 'invalid_request': {
      const { issues = [] } = details;
      return { kind: 'misfit', message, issues, reasons: issues.length > 0 ? inOneText(issues) : message };
    }
    case 'person_required':
      return { kind: 'person', message };
    case 'expired':
      return { kind: 'over', message, outcome: 'expired' };
    case 'already_answered':
    case 'turn_over':
      return { kind: 'over', message, outcome: details.outcome ?? 'cancel' };
    case 'unauthenticated':
    case 'forbidden':
    case 'cannot_act_for_users':
    case 'unknown_agent':
    case 'unknown_server':
    case 'conversation_not_found':
    case 'turn_not_found':
    case 'turn_in_progress':
    case 'message_id_reused':
    case 'idempotency_key_reused':
    case 'elicitation_not_found':
    case 'approval_not_found':
    case 'not_your_question':
    case 'images_not_taken':
    case 'too_many_hops':
    case 'rate_limited':
    case 'unavailable':
      return null;
    default:
      return code satisfies never;
  }
}

/** Names fields as the form does, because the person knows nothing of the surrounding `content`. */
function inOneText(issues: Issue[]): string {
  const texts = issues.map(({ path, detail }) =>
    path.length > 1 ? `${path.slice(1).join('.')}: ${detail}` : detail,
  );
  return `${texts.join('; ')}.`;
}
