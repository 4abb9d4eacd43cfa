/** What the hosted pages are handed. */
import type { Logger } from 'pino';
import type { AuthConfig, Config } from '../../config.ts';
import type { OAuthStore } from '../../credentials/mcp-oauth/store.ts';
import type { KeyRing } from '../../credentials/sealing.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AnswerQuestion } from '../answer.ts';
import type { ConnectionNews } from '../connection-news.ts';

export interface ConnectDeps {
  config: Pick<Config, 'http' | 'agents' | 'servers'> & { auth: AuthConfig };
  storage: Pick<Storage, 'elicitations' | 'connections' | 'audit' | 'ping'>;
  keys: KeyRing;
  oauthStore: Pick<OAuthStore, 'begin' | 'complete'>;
  /** Stores and signals an answer; a question that is over is a `ProblemError`. */
  answer: AnswerQuestion;
  /** Tells every turn that waits for this account. Idempotent. */
  confirm: ConnectionNews['confirm'];
  logger: Logger;
}
