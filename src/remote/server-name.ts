/** How people and the model read of a server, and by what it is known again. */
import { createHash } from 'node:crypto';
import type { ServerConfig } from '../config/config.ts';

/** Its title and where it is. */
export function nameOf(server: ServerConfig): string {
  return `${server.title} (${placeOf(server)})`;
}

/** Where it is, and exactly what is there: another path, scheme or command is another one. Shown up to the `#`. */
export function identityOf(server: ServerConfig): string {
  const { url, process } = server;
  const exactly = process ? JSON.stringify([process.command, ...process.args]) : new URL(url).href;
  return `${placeOf(server)}#${createHash('sha256').update(exactly).digest('hex').slice(0, 16)}`;
}

export function placeOf({ url, process }: ServerConfig): string {
  return process ? 'this machine' : new URL(url).host;
}
