/**
 * A caller's connections. A user sees their own, and that the tenant has shared ones; a service sees the shared ones. Only
 * callers who may change a shared connection see its account. Other connections do not exist for the caller.
 */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../platform/config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { AccountStatus, Disconnected } from '../credentials/credential-store.ts';
import { keeperOf } from '../credentials/stores.ts';
import type { Stores } from '../credentials/stores.ts';
import type { ConnectedBy } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../storage/schema/account-tables.ts';
import type { Storage } from '../storage/storage.ts';
import type { MayChange } from './accounts.ts';
import { userOf, actorOf } from './principal.ts';
import { ServiceError } from './service-error.ts';
import type { Principal } from './principal.ts';

export type Scope = 'user' | 'project';

export interface OwnConnection {
  server: string;
  serverTitle: string;
  /** As in the agents file. */
  colour?: string | undefined;
  picture?: string | undefined;
  host: string | null;
  scope: Scope;
  /** Whether the caller may change it. */
  mayChange: boolean;
  /** The configured contact for questions about it. */
  contact: string | undefined;
  /** The agents file has its server, so it can be connected (again). */
  isInUse: boolean;
  /** As its server is or was configured; null when that is unknown. */
  connectedBy: ConnectedBy | null;
  state: { status: 'missing' } | ({ row: ConnectionRow; isKey: boolean } & AccountStatus);
}

/** Whether a key is connected that its owner entered. */
export function isKey(state: OwnConnection['state']): boolean {
  return state.status !== 'missing' && state.isKey;
}

const auditWords = {
  revoked: 'revoked at its provider',
  'not-offered': 'its provider offers no revocation',
  failed: 'not revoked at its provider',
};

interface Parts {
  config: Pick<Config, 'servers'>;
  storage: Storage;
  stores: Stores;
  mayChange: MayChange;
  logger: Logger;
}

export function createOwnConnections({ config, storage, stores, mayChange, logger }: Parts) {
  /** In the order of the agents file. Connections to servers that have left the file come last. */
  async function list(principal: Principal): Promise<OwnConnection[]> {
    const { tenant } = principal;
    const user = userOf(principal);
    const owners = user === null ? [null] : [user, null];
    const lists = await Promise.all(owners.map((owner) => storage.connections.list({ tenant, user: owner })));
    const left = lists.flat();
    const inUse = [...config.servers.values()].filter(({ credentialScope }) =>
      user === null ? credentialScope === 'project' : credentialScope !== 'none',
    );
    const known = inUse.map(async (server) => {
      const key = connectionKey(server, { tenant, user });
      const index = left.findIndex((row) => row.server === key.server && row.user === key.user);
      const [row] = index === -1 ? [] : left.splice(index, 1);
      return toOwn(principal, key, server, row);
    });
    const first = await Promise.all(known);
    return [...first, ...(await Promise.all(left.map((row) => toOwn(principal, row, undefined, row))))];
  }

  async function toOwn(
    principal: Principal,
    key: ConnectionKey,
    server: ServerConfig | undefined,
    row?: ConnectionRow,
  ): Promise<OwnConnection> {
    const isTheirs = await mayChange(principal, key);
    const wayTo = (kept: Pick<ConnectionRow, 'store'> | undefined) =>
      (kept && keeperOf(stores, kept)?.connectedBy) ?? null;
    const state = row
      ? {
          row: isTheirs ? row : withoutAccount(row),
          isKey: wayTo(row) === 'key',
          ...accountStatusOf(row, server),
        }
      : { status: 'missing' as const };
    const ownHost = server ? new URL(server.url).host : null;
    return {
      server: key.server,
      colour: server?.colour,
      picture: server?.picture,
      serverTitle: server?.title ?? config.servers.get(key.server)?.title ?? key.server,
      host: 'host' in state && !server ? state.host : ownHost,
      scope: key.user === null ? 'project' : 'user',
      mayChange: isTheirs,
      contact: server?.contact,
      isInUse: server !== undefined,
      connectedBy: wayTo(server ?? row),
      state,
    };
  }

  function accountStatusOf(row: ConnectionRow, server: ServerConfig | undefined): AccountStatus {
    const keeper = keeperOf(stores, row);
    // A secret of another store than the server's current one is never sent to the server.
    if (!keeper || (server && server.store !== row.store))
      return { host: null, status: 'broken', reason: 'server_changed' };
    return keeper.statusOf(row, server);
  }

  /** Whatever its user wants. Null: there was none. */
  async function end(
    key: ConnectionKey,
    { actor, address, by }: { actor: string | null; address: string | null; by: string },
  ): Promise<{ revokedAtProvider: boolean | null } | null> {
    const { tenant, server } = key;
    const configured = config.servers.get(server);
    const isInUse =
      configured !== undefined &&
      configured.credentialScope !== 'none' &&
      connectionKey(configured, key).user === key.user;
    const ended = await disconnectAt(key, isInUse ? configured : undefined);
    if (ended.kind === 'nothing-there') return null;
    const { revocation } = ended;
    const detail = `${server}: ${auditWords[revocation.kind]}${by}`;
    const at = Date.now();
    await storage.audit.record({
      at,
      tenant,
      elicitationId: '',
      actor,
      action: 'disconnected',
      detail,
      address,
    });
    if (revocation.kind === 'failed')
      logger.warn(
        { server, reason: revocation.reason },
        'an account was disconnected, but not revoked at its provider',
      );
    return { revokedAtProvider: revocation.kind === 'not-offered' ? null : revocation.kind === 'revoked' };
  }

  async function disconnectAt(key: ConnectionKey, server: ServerConfig | undefined): Promise<Disconnected> {
    const row = await storage.connections.get(key);
    if (!row) return { kind: 'nothing-there' };
    const keeper = keeperOf(stores, row);
    if (keeper) return keeper.disconnect(key, server);
    await storage.connections.remove(key);
    return {
      kind: 'removed',
      revocation: { kind: 'failed', reason: 'its store is not configured any more' },
    };
  }

  /** Audited, also when refused. */
  async function disconnect(
    principal: Principal,
    { server, scope }: { server: string; scope: Scope },
    address: string,
  ) {
    const { tenant } = principal;
    const listed = (await list(principal)).filter((own) => own.server === server);
    const own = listed.find((one) => one.scope === scope);
    const by = principal.kind === 'service' ? ` (key ${principal.keyId})` : '';
    const refused = (detail: string) =>
      storage.audit.record({
        at: Date.now(),
        tenant,
        elicitationId: '',
        actor: actorOf(principal),
        action: 'refused',
        detail: `${server}: ${detail}${by}`,
        address,
      });
    if (principal.kind === 'user' && principal.actor && scope === 'user' && own) {
      await refused('disconnecting for a user');
      throw new ServiceError('person_required', 'A person ends their own connections, on our page.');
    }
    const shared = listed.find((one) => one.scope === 'project');
    if (!own?.mayChange) {
      if (!shared)
        throw new ServiceError('unknown_server', 'You have no connection to a server of this name.');
      const everybodys = `Everybody uses this account of ${shared.serverTitle}`;
      // A user who disconnects their own account twice must not disconnect the shared one.
      if (shared.mayChange)
        throw new ServiceError('invalid_request', `${everybodys}; say scope=project to disconnect it.`);
      await refused('disconnecting a shared account');
      throw new ServiceError('forbidden', `${everybodys}; only an operator can disconnect it.`);
    }
    const key = { tenant, server, user: scope === 'project' ? null : userOf(principal) };
    const ended = await end(key, { actor: actorOf(principal), address, by });
    if (!ended)
      return { serverTitle: own.serverTitle, wasThere: false, wasKey: false, revokedAtProvider: null };
    return { serverTitle: own.serverTitle, wasThere: true, wasKey: isKey(own.state), ...ended };
  }

  return { list, disconnect, end };
}

/** Everyone in the tenant may know that there is a shared connection and whether it works, but not whose account it is. */
function withoutAccount(row: ConnectionRow): ConnectionRow {
  return { ...row, account: null, scopes: [] };
}
