/**
 * The tools of each server, kept in the database so that the model knows them before the user has connected.
 *
 * What a server lists can differ by user. A turn is offered its user's own list; until there is one, the newest list
 * of anybody in the tenant that the server lets others see; and without any, one tool that connects the account.
 *
 * Reading never waits for a server whose tools are known: stale lists are renewed beside the turn, by whoever
 * holds a credential at that moment. Only a server that needs no account and was never listed is asked at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { Credential } from '../credentials/store.ts';
import type { Storage } from '../storage/storage.ts';
import type { ToolList } from '../storage/ports/tool-catalogue.ts';
import type { TurnOwner } from '../turn/turn.ts';
import { createBackOff } from './backoff.ts';
import type { BackOff } from './backoff.ts';
import { listServerTools } from './mcp/list-tools.ts';
import type { ListOutcome } from './mcp/list-tools.ts';
import { logProcess } from './mcp/stdio/log-process-exit.ts';
import { connectTool, toModelTool } from './model-tools.ts';
import type { ModelTool } from './model-tools.ts';

export type { ModelTool } from './model-tools.ts';

/** `old`: a list that is missing too. `missing`: only a first list of the user's own. `now`: whatever there is. */
export type RefreshWhen = 'old' | 'missing' | 'now';

export interface Catalogue {
  /** What to offer the model, in the order of the servers. */
  toolsFor(owner: TurnOwner, servers: ServerConfig[]): Promise<ModelTool[]>;
  /** Lists the server's tools now and keeps them. */
  learn(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome>;
  /** Servers that are not to be tried for a while, and why. */
  away: BackOff;
  /** Lists them again if need be. For use beside other work: it never rejects. */
  refresh(owner: TurnOwner, server: ServerConfig, credential: Credential, when?: RefreshWhen): Promise<void>;
}

interface Options {
  storage: Pick<Storage, 'toolCatalogue'>;
  logger: Logger;
  /** How old a list may get before it is renewed, unless its server says less. Default ten minutes. */
  freshMs?: number;
  /**
   * How soon a list is renewed at the earliest, whatever its server says. Default 15 seconds: many servers say zero
   * because nobody told them otherwise, and every call would be followed by a listing.
   */
  soonestMs?: number;
  /** How long a turn may wait for a list that nobody has yet. Default five seconds. */
  patienceMs?: number;
  away?: BackOff;
}

/** One at a time for each list; whoever needs one that was begun later than now waits in `next`. */
interface Renewal {
  startedAt: number;
  work: Promise<void>;
  next?: Promise<void>;
}

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };

export function createCatalogue({
  storage,
  logger,
  freshMs = 600_000,
  soonestMs = 15_000,
  patienceMs = 5_000,
  away = createBackOff(),
}: Options): Catalogue {
  const underWay = new Map<string, Renewal>();
  const { toolCatalogue } = storage;

  async function toolsOf(owner: TurnOwner, server: ServerConfig): Promise<ModelTool[]> {
    const known = await toolCatalogue.get(connectionKey(server, owner));
    if (known) {
      if (server.credentialScope === 'none') void refresh(owner, server, nobody);
      return known.tools.map((tool) => toModelTool(server, tool));
    }
    if (server.credentialScope !== 'none') return [connectTool(server)];
    if (away.trouble(server) !== null) return [];
    await isListed(owner, server);
    const listed = await toolCatalogue.get(connectionKey(server, owner));
    return (listed?.tools ?? []).map((tool) => toModelTool(server, tool));
  }

  /** One that takes longer, because it has to be installed first, is there for a later turn, and is waited for once. */
  async function isListed(owner: TurnOwner, server: ServerConfig): Promise<void> {
    const listing = refresh(owner, server, nobody);
    const { startedAt } = underWay.get(renewalKey(owner, server)) ?? { startedAt: 0 };
    const leftMs = startedAt + patienceMs - Date.now();
    if (leftMs <= 0) return;
    const tooLate = new AbortController();
    const late = sleep(leftMs, true, { signal: tooLate.signal }).catch(() => false);
    const isLate = await Promise.race([listing.then(() => false), late]);
    tooLate.abort();
    if (isLate)
      logger.warn(
        { server: server.name },
        `server "${server.name}" has not listed its tools within ${patienceMs / 1000} s; turns do without them until it has`,
      );
  }

  async function learn(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const listed = await listServerTools(server, credential, signal, {
      onReport: logProcess(logger, server),
    });
    if (listed.kind === 'unreachable') return listed;
    away.reached(server);
    if (listed.kind === 'refused') return listed;
    for (const one of listed.leftOut)
      logger.warn({ server: server.name, ...one }, 'a tool cannot be offered');
    const { tools, audience, freshMs: saidMs } = listed;
    await toolCatalogue.put(connectionKey(server, owner), { tools, audience, freshMs: saidMs });
    return listed;
  }

  function isDue(known: ToolList & { updatedAt: number }, when: RefreshWhen): boolean {
    switch (when) {
      case 'now':
        return true;
      case 'missing':
        return false;
      case 'old': {
        const saidMs = Math.max(known.freshMs ?? Infinity, soonestMs);
        return Date.now() - known.updatedAt >= Math.min(freshMs, saidMs);
      }
      default:
        return when satisfies never;
    }
  }

  async function renew(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    when: RefreshWhen,
  ): Promise<void> {
    try {
      const known = await toolCatalogue.get(connectionKey(server, owner));
      if (known?.isOwn === true && !isDue(known, when)) return;
      if (when !== 'now' && away.trouble(server) !== null) return;
      const listed = await learn(owner, server, credential, new AbortController().signal);
      if (listed.kind === 'tools') return;
      const facts = { server: server.name };
      const what = `the tools of server "${server.name}" cannot be listed`;
      if (listed.kind === 'refused') {
        logger.warn({ ...facts, reason: `it answered HTTP ${listed.status}` }, what);
        return;
      }
      const retryInMs = away.failed(server, listed.message);
      const next = `; it is not tried again for ${Math.ceil(retryInMs / 1000)} s`;
      logger.warn({ ...facts, reason: listed.message, retryInMs }, what + next);
    } catch (error) {
      logger.warn(
        { server: server.name, err: error },
        `the tools of server "${server.name}" cannot be listed`,
      );
    }
  }

  async function refresh(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    when: RefreshWhen = 'old',
  ): Promise<void> {
    const key = renewalKey(owner, server);
    const current = underWay.get(key);
    if (!current) {
      const work = renew(owner, server, credential, when).finally(() => underWay.delete(key));
      const renewal = { startedAt: Date.now(), work };
      underWay.set(key, renewal);
      return renewal.work;
    }
    if (when !== 'now') return current.work;
    // What is being read may be from before the change.
    current.next ??= current.work.then(() => refresh(owner, server, credential, 'now'));
    return current.next;
  }

  return {
    toolsFor: async (owner, servers) =>
      (await Promise.all(servers.map((server) => toolsOf(owner, server)))).flat(),
    learn,
    refresh,
    away,
  };
}

function renewalKey(owner: TurnOwner, server: ServerConfig): string {
  return JSON.stringify(connectionKey(server, owner));
}
