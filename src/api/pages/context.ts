/** What the hosted pages are handed, and what all of their routes have in common. */
import type { Logger } from 'pino';
import type { AuthConfig, Config } from '../../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { Stores } from '../../credentials/stores.ts';
import type { Storage } from '../../storage/storage.ts';
import type { MayChange } from '../../service/account-rights.ts';
import type { AnswerQuestion } from '../../service/answer-question.ts';
import type { ConfirmConnection } from '../../service/confirm-connection.ts';
import type { NangoStore } from '../../credentials/nango/store.ts';
import type { GiveKey } from '../../service/give-key.ts';
import type { NangoAttempts } from '../../service/nango-attempts.ts';
import type { PageScript } from './layout.ts';
import type { Sessions } from './login/session.ts';
import type { Refusals } from './refusals.ts';
import type { PlaygroundParts } from './playground/routes.ts';
import type { OwnApprovals } from '../../service/approvals.ts';
import type { OwnConnections } from '../../service/connections.ts';

export interface PagesParts {
  config: Pick<Config, 'http' | 'agents' | 'servers' | 'nango'> & { auth: AuthConfig };
  storage: Pick<Storage, 'elicitations' | 'connections' | 'connectAttempts' | 'audit' | 'ping'>;
  keys: KeyRing;
  /** What the pages need of each store: a way there, and what to do with what comes back. */
  stores: Pick<Stores, 'nango'> & {
    oauth: Pick<Stores['oauth'], 'begin' | 'complete'>;
    vault: Pick<Stores['vault'], 'keep'>;
  };
  connections: OwnConnections;
  approvals: OwnApprovals;
  mayChange: MayChange;
  /** Stores and signals an answer; a question that is over is a `ServiceError`. */
  answer: AnswerQuestion;
  /** To be called once a store has recorded an account. Idempotent. */
  confirmConnection: ConfirmConnection;
  logger: Logger;
  playground?: Omit<PlaygroundParts, 'sessions' | 'publicUrl'> | undefined;
}

export interface PageContext extends PagesParts {
  sessions: Sessions;
  refusals: Refusals;
  giveKey: GiveKey;
  /** Null where no server keeps its accounts at Nango. */
  nango: NangoConnecting | null;
}

export interface NangoConnecting extends NangoAttempts {
  store: NangoStore;
  /** Null: the pages do without. */
  script: PageScript | null;
}
