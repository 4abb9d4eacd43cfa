/**
 * The tools of each server, kept in the database so that the model knows them before the user has connected.
 *
 * The list of a server can differ by user. A turn is offered its user's own list. Until there is one, it is offered the newest
 * list of the tenant that the server lets others see, and without any such list one tool that connects the account.
 *
 * A turn never waits for a server whose tools are known: outdated lists are refreshed beside a turn that holds a credential.
 * Only a server that needs no account and was never listed is asked at once. There is one listing at a time for each list, and
 * a server that cannot be reached is not listed again before its backoff has passed.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../platform/config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import { noCredential } from '../credentials/credential-store.ts';
import type { Credential } from '../credentials/credential-store.ts';
import type { KeptToolList } from '../storage/tables/tool-catalogue.ts';
import type { Storage } from '../storage/storage.ts';
import { serverRefused } from '../platform/telemetry/metrics/instruments.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import type { ServerTrouble } from '../turn/server-trouble.ts';
import type { TurnOwner } from '../turn/turn.ts';
import { logProcessExit } from './log-process-exit.ts';
import { connectTool, toModelTool } from './model-tools.ts';
import type { ModelTool } from './model-tools.ts';
import type { ListOutcome, RemoteServers } from './remote-servers.ts';

/** `old`: refresh a missing or outdated list. `missing`: only when the user has no list of their own. `now`: always. */
export type RefreshWhen = 'old' | 'missing' | 'now';

export interface Catalogue {
  /** The tools to offer to the model, in the order of the servers. */
  toolsFor(owner: TurnOwner, servers: ServerConfig[]): Promise<ModelTool[]>;
  /** Lists the server's tools now and stores the list. */
  learn(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome>;
  /** Lists them again if `needsRefresh`. Never rejects, so that it can run beside other work. */
  refresh(owner: TurnOwner, server: ServerConfig, credential: Credential, when?: RefreshWhen): Promise<void>;
  needsRefresh(known: KeptToolList | null, when: RefreshWhen): boolean;
  backoff: Backoff;
}

interface Options {
  storage: Pick<Storage, 'toolCatalogue'>;
  remote: Pick<RemoteServers, 'listTools'>;
  logger: Logger;
  /** Maximum age of a list, unless its server states a shorter one. Default ten minutes. */
  freshMs?: number;
  /**
   * Minimum time between two listings. Default 15 seconds: many servers state zero because that is their SDK's default, and
   * every call would be followed by a listing.
   */
  soonestMs?: number;
  /** How long a turn may wait for the first list of a server. Default five seconds. */
  listTimeoutMs?: number;
  backoff?: Backoff;
}

interface Refresh {
  startedAt: number;
  work: Promise<void>;
  /** Begins after `work`, for callers that need a list newer than `startedAt`. */
  next?: Promise<void>;
}

export function createCatalogue({
  storage: { toolCatalogue },
  remote,
  logger,
  freshMs = 600_000,
  soonestMs = 15_000,
  listTimeoutMs = 5_000,
  backoff = createBackoff(),
}: Options): Catalogue {
  const underWay = new Map<string, Refresh>();

  async function toolsOf(owner: TurnOwner, server: ServerConfig): Promise<ModelTool[]> {
    const known = await toolCatalogue.get(connectionKey(server, owner));
    if (known) {
      if (server.credentialScope === 'none') void refresh(owner, server, noCredential);
      return known.tools.map((tool) => toModelTool(server, tool));
    }
    if (server.credentialScope !== 'none') return [connectTool(server)];
    if (backoff.reason(server) !== null) return [];
    await firstListing(owner, server);
    const listed = await toolCatalogue.get(connectionKey(server, owner));
    return (listed?.tools ?? []).map((tool) => toModelTool(server, tool));
  }

  /** A server that has to be installed first takes longer: its tools are offered to a later turn. */
  async function firstListing(owner: TurnOwner, server: ServerConfig): Promise<void> {
    const listing = refresh(owner, server, noCredential);
    const startedAt = underWay.get(refreshKey(owner, server))?.startedAt ?? 0;
    const leftMs = startedAt + listTimeoutMs - Date.now();
    if (leftMs <= 0) return;
    if ((await withTimeout(listing, leftMs, 'late')) === 'late')
      logger.warn(
        { server: server.name },
        `server "${server.name}" has not listed its tools within ${listTimeoutMs / 1000} s; turns do without them until it has`,
      );
  }

  async function refresh(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    when: RefreshWhen = 'old',
  ): Promise<void> {
    // An agent is one tool, which the agents file describes.
    if (server.agent) return;
    const key = refreshKey(owner, server);
    const current = underWay.get(key);
    if (!current) {
      const work = refreshOnce(owner, server, credential, when).finally(() => underWay.delete(key));
      underWay.set(key, { startedAt: Date.now(), work });
      return work;
    }
    if (when !== 'now') return current.work;
    // The listing under way may have read the list before it changed.
    current.next ??= current.work.then(() => refresh(owner, server, credential, 'now'));
    return current.next;
  }

  async function refreshOnce(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    when: RefreshWhen,
  ): Promise<void> {
    const failed = `the tools of server "${server.name}" cannot be listed`;
    try {
      const known = await toolCatalogue.get(connectionKey(server, owner));
      if (!needsRefresh(known, when)) return;
      if (when !== 'now' && backoff.reason(server) !== null) return;
      const listed = await learn(owner, server, credential, new AbortController().signal);
      switch (listed.kind) {
        case 'tools':
          return;
        case 'refused':
          if (!listed.otherwise) serverRefused(server.name, listed.status, 'given_up');
          logger.warn({ server: server.name, reason: `it answered HTTP ${listed.status}` }, failed);
          return;
        case 'unreachable': {
          const retryInMs = backoff.failed(server, listed.trouble);
          const next = `; it is not tried again for ${Math.ceil(retryInMs / 1000)} s`;
          logger.warn({ server: server.name, reason: listed.message, retryInMs }, failed + next);
          return;
        }
        default:
          return listed satisfies never;
      }
    } catch (error) {
      logger.warn({ server: server.name, err: error }, failed);
    }
  }

  async function learn(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const onProcessExit = logProcessExit(logger, server);
    const listed = await remote.listTools(server, credential, signal, { onProcessExit });
    if (listed.kind === 'unreachable') return listed;
    backoff.reached(server);
    if (listed.kind === 'refused') return listed;
    for (const { tool: toolName, reason } of listed.leftOut)
      logger.warn({ server: server.name, toolName, reason }, 'a tool cannot be offered');
    const { tools, audience, freshMs: statedMs } = listed;
    await toolCatalogue.put(connectionKey(server, owner), { tools, audience, freshMs: statedMs });
    return listed;
  }

  function needsRefresh(known: KeptToolList | null, when: RefreshWhen): boolean {
    if (known?.isOwn !== true) return true;
    switch (when) {
      case 'now':
        return true;
      case 'missing':
        return false;
      case 'old': {
        const statedMs = Math.max(known.freshMs ?? Infinity, soonestMs);
        return Date.now() - known.updatedAt >= Math.min(freshMs, statedMs);
      }
      default:
        return when satisfies never;
    }
  }

  return {
    toolsFor: async (owner, servers) =>
      (await Promise.all(servers.map((server) => toolsOf(owner, server)))).flat(),
    learn,
    refresh,
    needsRefresh,
    backoff,
  };
}

function refreshKey(owner: TurnOwner, server: ServerConfig): string {
  return JSON.stringify(connectionKey(server, owner));
}

interface Failures {
  count: number;
  trouble: ServerTrouble;
  until: number;
}

/**
 * Which servers could not be reached, and until when they are not tried again. In memory: each process finds out by itself.
 * Exponential. `firstMs`: after the first failure, default five seconds. `longestMs`: default five minutes.
 */
export function createBackoff({ firstMs = 5_000, longestMs = 300_000, now = Date.now } = {}) {
  const failing = new Map<string, Failures>();
  return {
    /** Why the server could not be reached; null when it may be tried. */
    reason({ name }: ServerConfig) {
      const failures = failing.get(name);
      return failures && now() < failures.until ? failures.trouble : null;
    },
    /** Returns for how long the server is not tried, in milliseconds. */
    failed({ name }: ServerConfig, trouble: ServerTrouble) {
      const { count = 0, until = 0 } = failing.get(name) ?? {};
      // Attempts that were under way together count once.
      if (now() < until) return until - now();
      const waitMs = Math.min(firstMs * 2 ** count, longestMs);
      failing.set(name, { count: count + 1, trouble, until: now() + waitMs });
      return waitMs;
    },
    reached({ name }: ServerConfig) {
      failing.delete(name);
    },
  };
}

type Backoff = ReturnType<typeof createBackoff>;
