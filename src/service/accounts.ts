/**
 * How people connect accounts: by signing in at a provider, by entering a key, or through Nango. Failures of a provider or a
 * store are `CredentialStoreError`s, with one message for the person and one for the operator.
 */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../platform/config/config.ts';
import type { BeginInput, Completion } from '../credentials/mcp-oauth/sign-in.ts';
import { storeOf } from '../credentials/stores.ts';
import type { Stores } from '../credentials/stores.ts';
import type { ConnectedBy, Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../storage/schema/account-tables.ts';
import type { Storage } from '../storage/storage.ts';
import { createNangoAttempts } from './nango-attempts.ts';
import type { Principal, UserPrincipal } from './principal.ts';
import { toQuestion } from './questions.ts';
import type { Question } from './questions.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { ElicitationRow } from '../storage/schema/question-tables.ts';
import type { KeyProblem } from '@interlude-ai/core/elicitation/wording.ts';
import { clientMetadata, issuerTagPattern, redirectUri } from '../credentials/mcp-oauth/client-metadata.ts';
import type { ConfirmConnection } from './confirm-connection.ts';

export { CredentialStoreError } from '../credentials/credential-store.ts';
export { permissionsAmong } from '@interlude-ai/core/oauth/scopes.ts';
export type { BeginInput, Completion, ConnectionKey };

/** The part of a store that leads people to an account and takes what comes back. */
type Connecting<Store> = Store extends null
  ? null
  : Pick<
      Store,
      Extract<keyof Store, 'connectedBy' | 'begin' | 'complete' | 'confirm' | 'look' | 'discard' | 'keep'>
    >;

export interface AccountsParts {
  config: Pick<Config, 'servers'>;
  storage: Pick<Storage, 'elicitations' | 'connections' | 'connectAttempts' | 'now'>;
  stores: { [Name in keyof Stores]: Connecting<Stores[Name]> };
  mayChange: MayChange;
  confirmConnection: ConfirmConnection;
  logger: Logger;
}

interface ReturnedBrowser {
  /** The address at which the browser came back, with its query. */
  callback: URL;
  sessionHash: string;
  principal: UserPrincipal;
  address: string;
}

interface GivenKey {
  server: ServerConfig;
  key: ConnectionKey;
  entered: string;
  /** Who entered it, and where. */
  actor: string;
  address: string;
  /** Null when no question asked for it. */
  elicitationId: string | null;
}

export type Accounts = ReturnType<typeof createAccounts>;

export function createAccounts(parts: AccountsParts) {
  const { config, storage, stores, mayChange, confirmConnection, logger } = parts;
  const { oauth, nango } = stores;
  const { connectAttempts } = storage;
  return {
    /** How a person gives an account of this server. */
    connectedBy: (server: ServerConfig): ConnectedBy => storeOf(stores, server).connectedBy,
    findQuestion: (elicitationId: string, person: { tenant: string; user: string }) =>
      findQuestion(parts, elicitationId, person),
    /** Whether the account works now, in a later version than this one. */
    async isConnectedSince(key: ConnectionKey, version: number): Promise<boolean> {
      const row = await storage.connections.get(key);
      return row?.status === 'active' && row.version > version;
    },
    /** Where to send the person. */
    async beginAuthorization(input: BeginInput): Promise<{ url: string }> {
      const store = storeOf(stores, input.server);
      if (store.connectedBy !== 'sign-in') throw new Error(`${input.server.name} has no sign-in`);
      return store.begin(input);
    },
    /** The person is back from the provider. */
    async completeAuthorization(returned: ReturnedBrowser): Promise<Completion> {
      const { callback, sessionHash, principal, address } = returned;
      const completion = await oauth.complete({
        callback,
        sessionHash,
        serverByName: (name) => config.servers.get(name),
        mayChange: (key) => mayChange(principal, key),
      });
      if (completion.kind === 'connected') {
        const { key, elicitationId } = completion;
        const actor = principal.user;
        await confirmConnection({ key, actor, elicitationId, address, isNew: true });
      }
      return completion;
    },
    /** Tries and keeps an API key. Null when it was kept; otherwise why not. */
    async giveKey({
      server,
      key,
      entered,
      actor,
      address,
      elicitationId,
    }: GivenKey): Promise<KeyProblem | null> {
      const store = storeOf(stores, server);
      if (store.connectedBy !== 'key') throw new Error(`${server.name} takes no key`);
      const kept = await store.keep(server, key, entered);
      if (kept.kind === 'not-kept') {
        const { problem } = kept;
        if ('reason' in problem)
          logger.warn(
            { tenant: key.tenant, server: server.name, elicitationId, reason: problem.reason },
            'an API key was not kept',
          );
        return problem;
      }
      await confirmConnection({ key, actor, elicitationId, address, isNew: true });
      return null;
    },
    /** Null where no server keeps its accounts at Nango. */
    nango: nango && createNangoAttempts({ store: nango, connectAttempts, confirmConnection }),
  };
}

/**
 * Who may connect, replace and disconnect an account: users their own; operators, and users with a permit, the shared ones of
 * their tenant. A program may not, not even when it acts for a user: untrusted messages reach the code that holds its key.
 */
export type MayChange = (principal: Principal, key: ConnectionKey) => Promise<boolean>;

export function createMayChange({ accountPermits }: Pick<Storage, 'accountPermits'>): MayChange {
  return async (principal, { tenant, server, user }) => {
    if (principal.kind === 'service' || principal.actor || principal.tenant !== tenant) return false;
    if (user !== null) return principal.user === user;
    return (
      principal.isOperator === true || (await accountPermits.holds({ tenant, server, user: principal.user }))
    );
  };
}

/** A question about an account of this server. */
export interface ConnectionQuestion {
  row: ElicitationRow;
  server: ServerConfig;
}

export type FoundQuestion =
  | { kind: 'unknown' }
  | { kind: 'not-yours'; row: ElicitationRow }
  | { kind: 'not-about-account'; question: Question }
  | { kind: 'open'; question: ConnectionQuestion }
  /** Open, but about an account that is not theirs to connect. */
  | { kind: 'shared'; question: ConnectionQuestion }
  /** The account is there. */
  | { kind: 'connected'; question: ConnectionQuestion; account: string | null; tooLate: boolean }
  | { kind: 'finished'; outcome: Exclude<Outcome, 'accept'> };

async function findQuestion(
  { config, storage }: Pick<AccountsParts, 'config' | 'storage'>,
  elicitationId: string,
  person: { tenant: string; user: string },
): Promise<FoundQuestion> {
  const row = await storage.elicitations.get(elicitationId);
  if (!row) return { kind: 'unknown' };
  if (row.tenant !== person.tenant || row.user !== person.user) return { kind: 'not-yours', row };
  if (row.server === null) return { kind: 'not-about-account', question: toQuestion(row) };
  const server = config.servers.get(row.server);
  // The server is no longer in the agents file.
  if (!server) {
    const { status } = row;
    return { kind: 'finished', outcome: status === 'decline' || status === 'expired' ? status : 'cancel' };
  }

  const question = { row, server };
  const connection = await storage.connections.get(connectionKey(server, row));
  const isShared = server.credentialScope === 'project';
  const account = isShared ? null : (connection?.account ?? null);
  const connected = { kind: 'connected' as const, question, account };
  switch (row.status) {
    case 'accept':
      return { ...connected, tooLate: false };
    case 'pending':
      if (answersQuestion(connection, row)) return { ...connected, tooLate: false };
      return row.deadline > storage.now()
        ? { kind: isShared ? 'shared' : 'open', question }
        : { kind: 'finished', outcome: 'expired' };
    case 'expired':
      // Connected just after the deadline: the turn has gone on without the account.
      if (answersQuestion(connection, row)) return { ...connected, tooLate: true };
      return { kind: 'finished', outcome: row.status };
    case 'decline':
    case 'cancel':
      return { kind: 'finished', outcome: row.status };
    default:
      return row.status satisfies never;
  }
}

/** Whether this connection is what the question waits for. */
function answersQuestion(connection: ConnectionRow | null, row: ElicitationRow): connection is ConnectionRow {
  return connection?.status === 'active' && connection.version > (row.seenVersion ?? 0);
}

/** This service as a client of sign-in servers: the documents that they read, and where they send people back to. */
export function createOAuthClient({ http, servers }: Pick<Config, 'http' | 'servers'>) {
  const { publicUrl } = http;
  return {
    /** `tag`: of the sign-in server. Null when there is no such document. */
    document: (tag: string): object | null =>
      issuerTagPattern.test(tag) ? clientMetadata(publicUrl, tag) : null,
    /** What operators register by hand at sign-in servers that read no documents. */
    registrations: () =>
      [...servers.values()].flatMap(({ name: server, oauth }) => {
        if (oauth?.issuer === undefined) return [];
        const { issuer, clientId } = oauth;
        return [{ server, issuer, clientId, redirectUri: redirectUri(publicUrl, issuer) }];
      }),
  };
}
