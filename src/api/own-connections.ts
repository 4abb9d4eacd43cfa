/**
 * Whose connections somebody sees, and who may end which. A user sees their own and those the whole tenant shares, and
 * may end their own; a service, which has no user, sees and ends the shared ones. Whatever else there is does not exist
 * for them.
 */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { Disconnected, Standing } from '../credentials/store.ts';
import { keeperOf } from '../credentials/stores.ts';
import type { Stores } from '../credentials/stores.ts';
import type { ConnectionKey, ConnectionRow, Storage } from '../storage/storage.ts';
import { userOf } from './conversation-access.ts';
import { ProblemError } from './errors.ts';
import type { Principal } from './principal.ts';

export interface OwnConnection {
  server: string;
  serverTitle: string;
  host: string | null;
  scope: 'user' | 'project';
  /** In the agents file, so that it can be connected (again). */
  isInUse: boolean;
  /** The store that accounts of this server are kept in: as configured, or as it was while it still was. */
  store: string;
  state: { status: 'missing' } | ({ row: ConnectionRow } & Standing);
}

/** What is connected is a key that its owner entered. */
export function isKey(state: OwnConnection['state']): boolean {
  return state.status !== 'missing' && state.row.store === 'vault';
}

export interface OwnConnections {
  /** In the order of the agents file; what was connected for servers it no longer has comes last. */
  list(principal: Principal): Promise<OwnConnection[]>;
  /** Audited, refusals included. `address`: where it came from. */
  disconnect(
    principal: Principal,
    server: string,
    address: string,
  ): Promise<{
    serverTitle: string;
    wasThere: boolean;
    wasKey: boolean;
    revokedAtProvider: boolean | null;
  }>;
}

const auditWords = {
  revoked: 'revoked at its provider',
  'not-offered': 'its provider offers no revocation',
  failed: 'not revoked at its provider',
};

interface Parts {
  config: Pick<Config, 'servers'>;
  storage: Pick<Storage, 'connections' | 'audit'>;
  stores: Stores;
  logger: Logger;
}

export function createOwnConnections({ config, storage, stores, logger }: Parts): OwnConnections {
  async function list(principal: Principal): Promise<OwnConnection[]> {
    const { tenant } = principal;
    const user = userOf(principal);
    const owners = user === null ? [null] : [user, null];
    const lists = await Promise.all(owners.map((owner) => storage.connections.list({ tenant, user: owner })));
    const left = lists.flat();
    const inUse = [...config.servers.values()].filter(({ credentialScope }) =>
      user === null ? credentialScope === 'project' : credentialScope !== 'none',
    );
    const known = inUse.map((server) => {
      const key = connectionKey(server, { tenant, user });
      const index = left.findIndex((row) => row.server === key.server && row.user === key.user);
      const [row] = index === -1 ? [] : left.splice(index, 1);
      return toOwn(key, server, row);
    });
    return [...known, ...left.map((row) => toOwn(row, undefined, row))];
  }

  function toOwn(key: ConnectionKey, server: ServerConfig | undefined, row?: ConnectionRow): OwnConnection {
    const state = row ? { row, ...standingOf(row, server) } : { status: 'missing' as const };
    const ownHost = server ? new URL(server.url).host : null;
    return {
      server: key.server,
      serverTitle: server?.title ?? config.servers.get(key.server)?.title ?? key.server,
      host: 'host' in state && !server ? state.host : ownHost,
      scope: key.user === null ? 'project' : 'user',
      isInUse: server !== undefined,
      store: server?.store ?? row?.store ?? '',
      state,
    };
  }

  function standingOf(row: ConnectionRow, server: ServerConfig | undefined): Standing {
    const keeper = keeperOf(stores, row);
    // What another store keeps than the one that the server is configured for now is never sent to it.
    if (!keeper || (server && server.store !== row.store))
      return { host: null, status: 'broken', reason: 'server_changed' };
    return keeper.standing(row, server);
  }

  async function end(key: ConnectionKey, server: ServerConfig | undefined): Promise<Disconnected> {
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

  async function disconnect(principal: Principal, server: string, address: string) {
    const { tenant } = principal;
    const listed = (await list(principal)).filter((own) => own.server === server);
    const mine = principal.kind === 'service' ? 'project' : 'user';
    const own = listed.find(({ scope }) => scope === mine);
    const by = principal.kind === 'service' ? ` (key ${principal.keyId})` : '';
    const audit = (action: 'disconnected' | 'refused', what: string) =>
      storage.audit.record({
        at: Date.now(),
        tenant,
        elicitationId: '',
        actor: userOf(principal),
        action,
        detail: `${server}: ${what}${by}`,
        address,
      });
    if (!own && listed.length > 0) {
      await audit('refused', 'disconnecting a shared account');
      throw new ProblemError(
        'forbidden',
        `Everybody uses this account of ${listed[0]?.serverTitle ?? server}; only a service with an API key can disconnect it.`,
      );
    }
    if (!own) {
      throw new ProblemError('unknown_server', 'You have no connection to a server of this name.');
    }
    const key = { tenant, server, user: userOf(principal) };
    const ended = await end(key, own.isInUse ? config.servers.get(server) : undefined);
    if (ended.kind === 'nothing-there')
      return { serverTitle: own.serverTitle, wasThere: false, wasKey: false, revokedAtProvider: null };
    const { revocation } = ended;
    await audit('disconnected', auditWords[revocation.kind]);
    if (revocation.kind === 'failed')
      logger.warn({ server, reason: revocation.reason }, 'an account was disconnected here only');
    const revokedAtProvider = revocation.kind === 'not-offered' ? null : revocation.kind === 'revoked';
    return { serverTitle: own.serverTitle, wasThere: true, wasKey: isKey(own.state), revokedAtProvider };
  }

  return { list, disconnect };
}
