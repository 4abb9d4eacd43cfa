/** How a server is named to people and the model, and how its identity is compared. */
import { createHash } from 'node:crypto';
import type { ServerConfig } from '../platform/config/config.ts';

/** Title and host. */
export function nameOf(server: ServerConfig): string {
  return `${server.title} (${placeOf(server)})`;
}

/**
 * The host, and after the `#`, which is not shown, a digest of the exact address or command: any change makes it another
 * server.
 */
export function identityOf(server: ServerConfig): string {
  const { url, process } = server;
  const exactly = process ? JSON.stringify([process.command, ...process.args]) : new URL(url).href;
  return `${placeOf(server)}#${createHash('sha256').update(exactly).digest('hex').slice(0, 16)}`;
}

export function placeOf({ url, process }: ServerConfig): string {
  return process ? 'this machine' : new URL(url).host;
}
