/** What the hosted pages are handed, and what all of their routes have in common. */
import type { Logger } from 'pino';
import type { AuthConfig, Config } from '../../config/config.ts';
import type { AnswerQuestion } from '../../service/answer-question.ts';
import type { NangoAttempts } from '../../service/nango-attempts.ts';
import type { Service } from '../../service/service.ts';
import type { PageScript } from './layout.ts';
import type { Sessions } from './login/session.ts';
import type { Refusals } from './refusals.ts';
import type { PlaygroundParts } from './playground/routes.ts';

export interface PagesParts extends Pick<
  Service,
  | 'accounts'
  | 'approvals'
  | 'askedQuestion'
  | 'authenticate'
  | 'connections'
  | 'endedSessions'
  | 'mayChange'
  | 'now'
  | 'oauthClient'
  | 'openPayloads'
  | 'operators'
  | 'questionsOf'
  | 'recordRefusal'
  | 'sealedText'
> {
  config: Pick<Config, 'http' | 'agents' | 'servers' | 'nango'> & {
    auth: AuthConfig;
    temporal: Pick<Config['temporal'], 'uiUrl'>;
  };
  /** Stores and signals an answer; a question that is over is a `ServiceError`. */
  answer: AnswerQuestion;
  /** Absent: there is no Slack app. */
  slack?: Service['slack'];
  logger: Logger;
  playground?: Omit<PlaygroundParts, 'sessions' | 'publicUrl'> | undefined;
}

export interface PageContext extends PagesParts {
  sessions: Sessions;
  refusals: Refusals;
  /** Null where no server keeps its accounts at Nango. */
  nango: NangoConnecting | null;
}

/** A server keeps its accounts there only where it is configured. */
export function requireNango({ nango }: Pick<PageContext, 'nango'>): NangoConnecting {
  if (!nango) throw new Error('Nango is not configured');
  return nango;
}

export interface NangoConnecting extends NangoAttempts {
  /** Null: the pages do without. */
  script: PageScript | null;
}
