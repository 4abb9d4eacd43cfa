/** How people and the model read of a server. */
import type { ServerConfig } from '../config/config.ts';

/** Its title and where it is. */
export function nameOf(server: ServerConfig): string {
  return `${server.title} (${placeOf(server)})`;
}

export function placeOf({ url, process }: ServerConfig): string {
  return process ? 'this machine' : new URL(url).host;
}
