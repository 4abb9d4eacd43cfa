/** What the routes of the hosted pages get. */
import type { Logger } from 'pino';
import type { FastifyRequest } from 'fastify';
import type { AuthConfig, Config } from '../../platform/config/config.ts';
import type { AnswerQuestion } from '../../service/answer-question.ts';
import type { NangoAttempts } from '../../service/nango-attempts.ts';
import type { Service } from '../../service/service.ts';
import type { PageScript } from './layout.ts';
import type { Sessions } from './login/session.ts';
import type { Refusals } from './refusals.ts';
import type { PlaygroundParts } from './playground.ts';

export interface PagesParts extends Pick<
  Service,
  | 'accounts'
  | 'answeredBy'
  | 'approvals'
  | 'authenticate'
  | 'connections'
  | 'endedSessions'
  | 'limits'
  | 'mayChange'
  | 'now'
  | 'oauthClient'
  | 'openPayloads'
  | 'operators'
  | 'questionsOf'
  | 'recordRefusal'
  | 'sealedText'
> {
  config: Pick<Config, 'http' | 'limits' | 'agents' | 'servers' | 'nango'> & {
    auth: AuthConfig;
    temporal: Pick<Config['temporal'], 'uiUrl'>;
  };
  answer: AnswerQuestion;
  /** Absent: Slack is not configured. */
  slack?: Service['slack'];
  logger: Logger;
  playground?: Omit<PlaygroundParts, 'sessions' | 'publicUrl'> | undefined;
}

export interface PageContext extends PagesParts {
  sessions: Sessions;
  refusals: Refusals;
  /** Null if no server keeps its accounts at Nango. */
  nango: NangoConnecting | null;
}

/** Call it only for a server that keeps its accounts at Nango. */
export function requireNango({ nango }: Pick<PageContext, 'nango'>): NangoConnecting {
  if (!nango) throw new Error('Nango is not configured');
  return nango;
}

export interface NangoConnecting extends NangoAttempts {
  /** Null: the browser library is not installed, and the pages work without a script. */
  script: PageScript | null;
}

/** OAuth callbacks are validated and passed on exactly as they arrived. */
export function rawQueryOf({ url }: Pick<FastifyRequest, 'url'>): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
