/** What a person in Slack reads when something is refused. One table covers each code of `ServiceError`. Pure. */
import { ServiceError } from '../../service/service-error.ts';
import type { Issue, ServiceErrorCode } from '../../service/service-error.ts';
import type { FoundAsked } from '../../service/slack/questions.ts';
import type { Stopped } from '../../service/slack/threads.ts';
import type { SlackProfile } from './vocabulary/client.ts';

export const notShownWords = {
  'not-linked': 'I do not know who you are yet. Connect your account first: `/interlude link`.',
  unknown: 'There is no such question any more.',
  'somebody-elses': 'This is for somebody else: only whoever was asked can answer it.',
} satisfies Record<Exclude<FoundAsked['kind'], 'own'>, string>;

export const stopWords = {
  stopped: 'I stop.',
  idle: 'I am not at work on anything of yours here.',
  'not-theirs': 'Only whoever asked me can stop me.',
} satisfies Record<Stopped, string>;

/** For people who are not offered a link. */
export const strangerWords = {
  guest:
    'I answer members of this workspace. If you have an account of your own with us, connect it with `/interlude link`, then ask again.',
  external:
    'I answer members of this workspace only. Somebody who looks after it can send you a link with `/interlude link @you`.',
} satisfies Partial<Record<SlackProfile['kind'], string>>;

interface Line {
  /**
   * `said`: show the words. `misfit`: show them below their fields. `settled`: say how the question ended. `busy`: the message
   * waits until the current turn is over. `away`: try again.
   */
  kind: 'said' | 'misfit' | 'settled' | 'busy' | 'away';
  /** Default: the service's own message. */
  words?: string;
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
  elicitation_not_found: { kind: 'said', words: notShownWords.unknown },
  approval_not_found: said,
  not_your_question: { kind: 'said', words: notShownWords['somebody-elses'] },
  already_answered: settled,
  expired: settled,
  images_not_taken: said,
  too_many_hops: said,
  turn_over: settled,
  unavailable: { kind: 'away' },
} satisfies Record<ServiceErrorCode, Line>;

export interface Refusal {
  kind: Line['kind'];
  code: ServiceErrorCode;
  words: string;
  issues: Issue[];
}

/** Throws errors that are not refusals. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message, details } = error;
  const { kind, words = message }: Line = lines[code];
  return { kind, code, words, issues: details.issues ?? [] };
}
