/**
 * Whether a server accepts a key: one real listing of its tools, which runs none of them. Like every request of ours it
 * stays at the configured address, so that a redirect takes no key anywhere.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../store.ts';
import { credentialOf, headerOf } from './api-key.ts';

/** Lists the tools of a server, as whatever calls servers does it: handed in, as stores know no protocol to call by. */
export type ListTools = (
  server: ServerConfig,
  credential: Credential,
  signal: AbortSignal,
) => Promise<
  | { kind: 'tools' }
  /** `otherwise`: where the answer need not be about the key. */
  | { kind: 'refused'; status: number; otherwise?: { message: string } }
  | { kind: 'unreachable'; message: string }
>;

/** `message` is a sentence for people, `reason` one for operators; neither repeats the key. */
export interface NotAccepted {
  kind: 'refused' | 'not-tried';
  message: string;
  reason: string;
}

/** Somebody is looking at a page that does not come. */
const timeoutMs = 10_000;

export async function tryKey(
  listTools: ListTools,
  server: ServerConfig,
  apiKey: string,
): Promise<'accepted' | NotAccepted> {
  const limited = { ...server, timeout: Math.min(server.timeout, timeoutMs) };
  const listed = await listTools(limited, credentialOf(server, apiKey, 0), new AbortController().signal);
  switch (listed.kind) {
    case 'tools':
      return 'accepted';
    case 'refused':
      return {
        kind: 'refused',
        message: listed.otherwise
          ? `${server.title} gave no usable answer to this key. Check that it is whole, and still valid there. If it is, tell the operator of this service.`
          : `${server.title} does not accept this key. Check that it is whole, and still valid there.`,
        // Should every key be refused, it is perhaps not what they look like that is wrong.
        reason: `it answered HTTP ${listed.status} to a key in its header ${headerOf(server)}${listed.otherwise ? `; ${listed.otherwise.message}` : ''}`,
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
