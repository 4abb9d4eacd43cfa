/**
 * Lists the tools of servers and keeps the lists in the database. One listing at a time for each list; a server that
 * cannot be reached is not listed again before its backoff has passed.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { Credential } from '../credentials/store.ts';
import type { KeptToolList } from '../storage/ports/tool-catalogue.ts';
import type { Storage } from '../storage/storage.ts';
import type { TurnOwner } from '../turn/turn.ts';
import type { Backoff } from './backoff.ts';
import { logProcessExit } from './log-process-exit.ts';
import type { ListOutcome, RemoteServers } from './remote-servers.ts';
import { serverRefused } from '../telemetry/metrics/instruments.ts';

/** `old`: a list that is missing too. `missing`: only a first list of the user's own. `now`: whatever there is. */
export type RefreshWhen = 'old' | 'missing' | 'now';

export interface ToolLists {
  /** Lists the server's tools now and keeps them. */
  learn(
    owner: TurnOwner,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome>;
  /** Lists them again if need be. For use beside other work: it never rejects. */
  refresh(owner: TurnOwner, server: ServerConfig, credential: Credential, when?: RefreshWhen): Promise<void>;
  /** Whether it would, given what is kept; spares reading that once more. */
  needsRefresh(known: KeptToolList | null, when: Exclude<RefreshWhen, 'now'>): boolean;
  /** When the refresh that is under way was started; undefined without one. */
  refreshingSince(owner: TurnOwner, server: ServerConfig): number | undefined;
}

interface Parts {
  storage: Pick<Storage, 'toolCatalogue'>;
  remote: Pick<RemoteServers, 'listTools'>;
  backoff: Backoff;
  logger: Logger;
  freshMs: number;
  soonestMs: number;
}

/** Whoever needs a list that was begun later than `startedAt` waits for `next`. */
interface Refresh {
  startedAt: number;
  work: Promise<void>;
  next?: Promise<void>;
}

export function createToolLists(parts: Parts): ToolLists {
  const underWay = new Map<string, Refresh>();

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
      const work = refreshOnce(parts, { owner, server, credential }, when).finally(() =>
        underWay.delete(key),
      );
      underWay.set(key, { startedAt: Date.now(), work });
      return work;
    }
    if (when !== 'now') return current.work;
    // What is being read may be from before the change.
    current.next ??= current.work.then(() => refresh(owner, server, credential, 'now'));
    return current.next;
  }

  return {
    learn: (owner, server, credential, signal) => learn(parts, { owner, server, credential }, signal),
    refresh,
    needsRefresh: (known, when) => isWanted(parts, known, when),
    refreshingSince: (owner, server) => underWay.get(refreshKey(owner, server))?.startedAt,
  };
}

interface Subject {
  owner: TurnOwner;
  server: ServerConfig;
  credential: Credential;
}

async function learn(
  { storage, remote, backoff, logger }: Parts,
  { owner, server, credential }: Subject,
  signal: AbortSignal,
): Promise<ListOutcome> {
  const onProcessExit = logProcessExit(logger, server);
  const listed = await remote.listTools(server, credential, signal, { onProcessExit });
  if (listed.kind === 'unreachable') return listed;
  backoff.reached(server);
  if (listed.kind === 'refused') return listed;
  for (const { tool: toolName, reason } of listed.leftOut)
    logger.warn({ server: server.name, toolName, reason }, 'a tool cannot be offered');
  const { tools, audience, freshMs } = listed;
  await storage.toolCatalogue.put(connectionKey(server, owner), { tools, audience, freshMs });
  return listed;
}

async function refreshOnce(parts: Parts, subject: Subject, when: RefreshWhen): Promise<void> {
  const { storage, backoff, logger } = parts;
  const { owner, server } = subject;
  const failed = `the tools of server "${server.name}" cannot be listed`;
  try {
    const known = await storage.toolCatalogue.get(connectionKey(server, owner));
    if (!isWanted(parts, known, when)) return;
    if (when !== 'now' && backoff.reason(server) !== null) return;
    const listed = await learn(parts, subject, new AbortController().signal);
    switch (listed.kind) {
      case 'tools':
        return;
      case 'refused':
        if (!listed.otherwise) serverRefused(server.name, listed.status, 'given_up');
        logger.warn({ server: server.name, reason: `it answered HTTP ${listed.status}` }, failed);
        return;
      case 'unreachable': {
        const retryInMs = backoff.failed(server, listed.message);
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

function isWanted(
  { freshMs, soonestMs }: Pick<Parts, 'freshMs' | 'soonestMs'>,
  known: KeptToolList | null,
  when: RefreshWhen,
): boolean {
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

function refreshKey(owner: TurnOwner, server: ServerConfig): string {
  return JSON.stringify(connectionKey(server, owner));
}
