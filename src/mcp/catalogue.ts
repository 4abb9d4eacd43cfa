/**
 * The tools of each server, kept in the database so that the model knows them before the user has connected.
 *
 * Reading never waits for a server whose tools are known: stale lists are renewed beside the turn, by whoever
 * holds a credential at that moment. Only a server that needs no account and was never listed is asked at once.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import type { Storage } from '../storage/storage.ts';
import { listServerTools } from './list.ts';
import type { ListOutcome } from './list.ts';
import { connectTool, toModelTool } from './model-tools.ts';
import type { ModelTool } from './model-tools.ts';

export type { ModelTool } from './model-tools.ts';

export interface Catalogue {
  /** What to offer the model, in the order of the servers. */
  toolsFor(tenant: string, servers: ServerConfig[]): Promise<ModelTool[]>;
  /** Lists the server's tools now and keeps them. */
  learn(
    tenant: string,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome>;
  /** Lists them again if the list is old or missing. For use beside other work: it never rejects. */
  refresh(tenant: string, server: ServerConfig, credential: Credential): Promise<void>;
}

interface Options {
  storage: Pick<Storage, 'toolCatalogue'>;
  logger: Logger;
  /** How old a list may get before it is renewed. Default ten minutes. */
  freshMs?: number;
  /** How long a turn may wait for a list that nobody has yet. Default five seconds. */
  patienceMs?: number;
}

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };

export function createCatalogue({
  storage,
  logger,
  freshMs = 600_000,
  patienceMs = 5_000,
}: Options): Catalogue {
  const underWay = new Map<string, Promise<unknown>>();
  const { toolCatalogue } = storage;

  async function toolsOf(tenant: string, server: ServerConfig): Promise<ModelTool[]> {
    const known = await toolCatalogue.get(tenant, server.name);
    if (known) {
      if (server.credentialScope === 'none') void refresh(tenant, server, nobody);
      return known.tools.map((tool) => toModelTool(server, tool));
    }
    if (server.credentialScope !== 'none') return [connectTool(server)];
    const listed = await learn(tenant, server, nobody, AbortSignal.timeout(patienceMs));
    if (listed.kind === 'tools') return listed.tools.map((tool) => toModelTool(server, tool));
    const reason = listed.kind === 'refused' ? `it answered HTTP ${listed.status}` : listed.message;
    logger.warn(
      { server: server.name, reason },
      'tools of a server cannot be listed; the model does without them',
    );
    return [];
  }

  async function learn(
    tenant: string,
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const listed = await listServerTools(server, credential, signal);
    if (listed.kind !== 'tools') return listed;
    for (const one of listed.leftOut)
      logger.warn({ server: server.name, ...one }, 'a tool cannot be offered');
    await toolCatalogue.put(tenant, server.name, listed.tools);
    return listed;
  }

  async function renew(tenant: string, server: ServerConfig, credential: Credential): Promise<void> {
    const known = await toolCatalogue.get(tenant, server.name);
    if (known && Date.now() - known.updatedAt < freshMs) return;
    const listed = await learn(tenant, server, credential, new AbortController().signal);
    if (listed.kind !== 'tools')
      logger.warn({ server: server.name, outcome: listed.kind }, 'tool list not renewed');
  }

  async function refresh(tenant: string, server: ServerConfig, credential: Credential): Promise<void> {
    const key = JSON.stringify([tenant, server.name]);
    const work =
      underWay.get(key) ??
      renew(tenant, server, credential)
        .catch((error: unknown) => logger.warn({ server: server.name, err: error }, 'tool list not renewed'))
        .finally(() => underWay.delete(key));
    underWay.set(key, work);
    await work;
  }

  return {
    toolsFor: async (tenant, servers) =>
      (await Promise.all(servers.map((server) => toolsOf(tenant, server)))).flat(),
    learn,
    refresh,
  };
}
