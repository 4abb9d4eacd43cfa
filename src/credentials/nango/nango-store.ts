/**
 * Accounts that Nango keeps. Ours is only which of its connections belongs to whom: (tenant, server, user) → connection
 * id, recorded once Nango itself says that the connection came of an attempt of that person.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey } from '../../storage/storage.ts';
import type { CredentialStore } from '../store.ts';

export interface NangoStore extends CredentialStore {
  /** Lets somebody go there. The attempt that a question has already is taken up again. Throws `CredentialStoreError`. */
  begin(input: NangoBegin): Promise<NangoAttempt>;
  /**
   * Whether this connection came of this attempt, by what Nango says of it and nobody else, and if so, records it.
   * Idempotent. Throws `CredentialStoreError` when Nango cannot be asked.
   */
  confirm(attemptId: string, connectionId: string): Promise<Confirmation>;
  /** The same for whatever came of an attempt. */
  look(attemptId: string): Promise<Confirmation>;
  /** For a connection that somebody says belongs to an attempt nobody knows (any more): ends it, if it is ours. */
  discard(integration: string, connectionId: string): Promise<void>;
}

export interface NangoBegin {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null when nobody asked: the user connects of their own accord. */
  elicitationId: string | null;
  /** Who goes there. */
  actor: string;
  /** What the question asked for. */
  scopes?: string[] | undefined;
}

/** What a browser needs to go there. A secret of the person it was made for, good for half an hour at most. */
export interface NangoAttempt {
  id: string;
  token: string;
  host: string;
  websocketsPath: string;
  integration: string;
  /** The way without a script: a page that leads to the provider and does not come back. */
  pageUrl: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** The account of an attempt is there. */
export interface Connected {
  kind: 'connected';
  key: ConnectionKey;
  elicitationId: string | null;
  actor: string;
  version: number;
  account: string | null;
  /** Recorded just now, and not before. */
  isNews: boolean;
}

export type Confirmation =
  | Connected
  /** Nothing has come of it yet. */
  | { kind: 'nothing-yet' }
  /** Such an attempt is not known, or not any more. */
  | { kind: 'unknown-attempt' }
  /** The connection is not what came of this attempt: somebody else's, another integration's, an older one. */
  | { kind: 'not-of-this-attempt' };
