/**
 * Whether a server lets a key in: one real listing of its tools, which runs none of them. Like every request of ours it
 * stays at the configured address, so that a redirect takes no key anywhere.
 */
import type { ServerConfig } from '../../config/config.ts';
import { listServerTools } from '../../remote/mcp/list-tools.ts';
import { credentialOf, headerOf } from './entry.ts';
import type { Kept } from './vault-store.ts';

/** Somebody is looking at a page that does not come. */
const patienceMs = 10_000;

export async function tryKey(
  server: ServerConfig,
  apiKey: string,
): Promise<'accepted' | Exclude<Kept, { kind: 'kept' | 'malformed' }>> {
  const hasty = { ...server, timeout: Math.min(server.timeout, patienceMs) };
  const listed = await listServerTools(hasty, credentialOf(server, apiKey, 0), new AbortController().signal);
  switch (listed.kind) {
    case 'tools':
      return 'accepted';
    case 'refused':
      return {
        kind: 'refused',
        message: `${server.title} does not accept this key. Check that it is whole, and still valid there.`,
        // Should every key be refused, it is perhaps not what they look like that is wrong.
        reason: `it answered HTTP ${listed.status} to a key in its header ${headerOf(server)}`,
      };
    case 'unreachable':
      return {
        kind: 'not-tried',
        message: `The key could not be tried at ${server.title} right now, and was not kept. Try again in a moment.`,
        reason: listed.message,
      };
    default:
      return listed satisfies never;
  }
}
