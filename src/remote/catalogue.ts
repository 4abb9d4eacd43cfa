/**
 * The tools of each server, kept in the database so that the model knows them before the user has connected.
 *
 * What a server lists can differ by user. A turn is offered its user's own list; until there is one, the newest list
 * of anybody in the tenant that the server lets others see; and without any, one tool that connects the account.
 *
 * Reading never waits for a server whose tools are known: outdated lists are refreshed beside the turn, by whoever
 * holds a credential at that moment. Only a server that needs no account and was never listed is asked at once.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { Credential } from '../credentials/store.ts';
import type { Storage } from '../storage/storage.ts';
import { withTimeout } from '../time/with-timeout.ts';
import type { TurnOwner } from '../turn/turn.ts';
import { createBackoff } from './backoff.ts';
import type { Backoff } from './backoff.ts';
import { connectTool, toModelTool } from './model-tools.ts';
import type { ModelTool } from './model-tools.ts';
import type { RemoteServers } from './remote-servers.ts';
import { createToolLists } from './tool-lists.ts';
import type { ToolLists } from './tool-lists.ts';

export interface Catalogue extends Pick<ToolLists, 'learn' | 'refresh' | 'needsRefresh'> {
  /** What to offer the model, in the order of the servers. */
  toolsFor(owner: TurnOwner, servers: ServerConfig[]): Promise<ModelTool[]>;
  /** Of servers that could not be reached. */
  backoff: Backoff;
}

interface Options {
  storage: Pick<Storage, 'toolCatalogue'>;
  remote: Pick<RemoteServers, 'listTools'>;
  logger: Logger;
  /** How old a list may get before it is refreshed, unless its server says less. Default ten minutes. */
  freshMs?: number;
  /**
   * How soon a list is refreshed at the earliest, whatever its server says. Default 15 seconds: many servers say zero
   * because nobody told them otherwise, and every call would be followed by a listing.
   */
  soonestMs?: number;
  /** How long a turn may wait for a list that nobody has yet. Default five seconds. */
  listTimeoutMs?: number;
  backoff?: Backoff;
}

const noCredential: Credential = { kind: 'credential', headers: {}, version: 0 };

export function createCatalogue({
  storage,
  remote,
  logger,
  freshMs = 600_000,
  soonestMs = 15_000,
  listTimeoutMs = 5_000,
  backoff = createBackoff(),
}: Options): Catalogue {
  const { toolCatalogue } = storage;
  const lists = createToolLists({ storage, remote, backoff, logger, freshMs, soonestMs });

  async function toolsOf(owner: TurnOwner, server: ServerConfig): Promise<ModelTool[]> {
    const known = await toolCatalogue.get(connectionKey(server, owner));
    if (known) {
      if (server.credentialScope === 'none') void lists.refresh(owner, server, noCredential);
      return known.tools.map((tool) => toModelTool(server, tool));
    }
    if (server.credentialScope !== 'none') return [connectTool(server)];
    if (backoff.reason(server) !== null) return [];
    await firstListing(owner, server);
    const listed = await toolCatalogue.get(connectionKey(server, owner));
    return (listed?.tools ?? []).map((tool) => toModelTool(server, tool));
  }

  /** One that takes longer, because it has to be installed first, is there for a later turn, and is waited for once. */
  async function firstListing(owner: TurnOwner, server: ServerConfig): Promise<void> {
    const listing = lists.refresh(owner, server, noCredential);
    const startedAt = lists.refreshingSince(owner, server) ?? 0;
    const leftMs = startedAt + listTimeoutMs - Date.now();
    if (leftMs <= 0) return;
    if ((await withTimeout(listing, leftMs, 'late')) === 'late')
      logger.warn(
        { server: server.name },
        `server "${server.name}" has not listed its tools within ${listTimeoutMs / 1000} s; turns do without them until it has`,
      );
  }

  return {
    toolsFor: async (owner, servers) =>
      (await Promise.all(servers.map((server) => toolsOf(owner, server)))).flat(),
    learn: lists.learn,
    refresh: lists.refresh,
    needsRefresh: lists.needsRefresh,
    backoff,
  };
}
