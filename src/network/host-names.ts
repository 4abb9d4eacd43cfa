/**
 * Under which names a server of ours may be addressed. A page of the attacker's can make its own name mean our address
 * (DNS rebinding) and then counts as one of ours for the browser; what it cannot change is the name in `Host`. Nobody can
 * make an address mean another one, so that addresses are never refused.
 */
import { isIP } from 'node:net';
import { bareHost } from './addresses.ts';

/** `names`: those that are known besides this machine's own. Without `Host` it is no browser. */
export function isKnownHost(header: string | undefined, names: readonly string[] = []): boolean {
  if (header === undefined) return true;
  if (!URL.canParse(`http://${header}`)) return false;
  const host = bareHost(new URL(`http://${header}`).hostname);
  return isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost') || names.includes(host);
}

/** One sentence for whoever set it up, wherever it is refused. */
export const unknownHostWords =
  'This server does not answer under this name; address it as PUBLIC_URL says, or add the name to ALLOWED_HOSTS.';
