/** What a server's configuration says about its accounts at Nango. */
import type { ServerConfig } from '../../config/config.ts';

export function integrationOf({ name, nango }: ServerConfig): string {
  if (!nango) throw new Error(`servers.${name} names no integration of Nango`);
  return nango.integration;
}
