/** What a person in Slack reads when something is refused. One table covers each code of `ServiceError`. Pure. */
import { ServiceError } from '../../service/service-error.ts';
import type { Issue, ServiceErrorCode } from '../../service/service-error.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import type { SlackWords } from './vocabulary/words.ts';
import { refusalsDe } from './words/de.ts';

interface Line {
  /**
   * `said`: show the words. `misfit`: show them below their fields. `settled`: say how the question ended. `busy`: the message
   * waits until the current turn is over. `away`: try again.
   */
  kind: 'said' | 'misfit' | 'settled' | 'busy' | 'away';
  /** Default: the service's sentence. */
  words?: keyof SlackWords['notShown'];
}

const said: Line = { kind: 'said' };
const misfit: Line = { kind: 'misfit' };
const settled: Line = { kind: 'settled' };

const lines = {
  invalid_request: misfit,
  invalid_content: misfit,
  unauthenticated: said,
  forbidden: said,
  cannot_act_for_users: said,
  person_required: said,
  unknown_agent: said,
  unknown_server: said,
  conversation_not_found: said,
  turn_not_found: said,
  turn_in_progress: { kind: 'busy' },
  message_id_reused: said,
  idempotency_key_reused: said,
  elicitation_not_found: { kind: 'said', words: 'unknown' },
  approval_not_found: said,
  not_your_question: { kind: 'said', words: 'not-yours' },
  already_answered: settled,
  expired: settled,
  images_not_taken: said,
  too_many_hops: said,
  turn_over: settled,
  rate_limited: said,
  unavailable: { kind: 'away' },
} satisfies Record<ServiceErrorCode, Line>;

export interface Refusal {
  kind: Line['kind'];
  code: ServiceErrorCode;
  words: string;
  issues: Issue[];
}

/** The service's own sentences are in English, and say more. */
const others: Record<Language, Record<ServiceErrorCode, string> | null> = { en: null, de: refusalsDe };

/** Throws errors that are not refusals. */
export function refusalOf(error: unknown, { notShown, language }: SlackWords): Refusal {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message, details } = error;
  const { kind, words: own }: Line = lines[code];
  const words = own === undefined ? (others[language]?.[code] ?? message) : notShown[own];
  return { kind, code, words, issues: details.issues ?? [] };
}
