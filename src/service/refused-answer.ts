/** What the refusal of an answer says of its question, the same for every surface; the words and pages for it are theirs. */
import { ServiceError } from './service-error.ts';
import type { Issue } from './service-error.ts';

export type RefusedAnswer =
  /** The question stays open, and may be answered again. `reasons`: what does not fit, in one text. */
  | { kind: 'misfit'; message: string; issues: Issue[]; reasons: string }
  /** The question stays open; only the person can give this answer, signed in. */
  | { kind: 'person'; message: string }
  /** The question was closed before: it is over, or was answered differently elsewhere. */
  | { kind: 'over'; message: string };

/** Null for an error that says nothing of the question. */
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
    case 'already_answered':
    case 'expired':
    case 'turn_over':
      return { kind: 'over', message };
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
    case 'unavailable':
      return null;
    default:
      return code satisfies never;
  }
}

/** By their names in the form: whoever answers knows nothing of the `content` around them. What is about all of it has none. */
function inOneText(issues: Issue[]): string {
  const texts = issues.map(({ path, detail }) =>
    path.length > 1 ? `${path.slice(1).join('.')}: ${detail}` : detail,
  );
  return `${texts.join('; ')}.`;
}
