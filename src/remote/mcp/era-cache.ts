/**
 * Which protocol era a server speaks, cached per address, or per command, so that only the first contact pays for the
 * probe. A `legacy` entry would look true for ever (an upgraded server still answers the old handshake), so every entry
 * expires. One cache lives as long as the `RemoteServers` it belongs to.
 */
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';

export interface EraCache {
  get(server: ServerConfig): PriorDiscovery | undefined;
  set(server: ServerConfig, discovery: PriorDiscovery): void;
  delete(server: ServerConfig): void;
}

/** `lifetimeMs`: of an entry, default ten minutes. */
export function createEraCache({ lifetimeMs = 10 * 60_000 } = {}): EraCache {
  const entries = new Map<string, { discovery: PriorDiscovery; expiresAt: number }>();
  return {
    get(server) {
      const entry = entries.get(keyOf(server));
      return entry && entry.expiresAt > Date.now() ? entry.discovery : undefined;
    },
    set: (server, discovery) =>
      void entries.set(keyOf(server), { discovery, expiresAt: Date.now() + lifetimeMs }),
    delete: (server) => void entries.delete(keyOf(server)),
  };
}

function keyOf({ url, process }: ServerConfig): string {
  return process ? JSON.stringify([process.command, process.args, process.cwd]) : url;
}
