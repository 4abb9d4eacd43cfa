/** The headers of every request to a server: the operator's, and those of somebody's account. */
import type { ServerConfig } from '../config/config.ts';
import type { Credential } from '../credentials/store.ts';
import { outgoingTrace } from '../telemetry/traces/outgoing.ts';

/** Names are compared without case: `Authorization` of the one replaces `authorization` of the other. */
export function headersOf(server: ServerConfig, credential: Credential): Headers {
  const headers = new Headers(server.headers);
  for (const [name, value] of Object.entries(credential.headers)) headers.set(name, value);
  return headers;
}

/** A request, with the span that makes it. */
export function withTrace(server: ServerConfig, init: RequestInit | undefined): RequestInit | undefined {
  const { traceparent } = outgoingTrace(server);
  if (traceparent === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set('traceparent', traceparent);
  return { ...init, headers };
}

/** Checked before anything is sent: errors about such a value repeat it, and it may be a secret. */
export function unsendableHeader(server: ServerConfig, credential: Credential): string | undefined {
  const all = [...Object.entries(server.headers), ...Object.entries(credential.headers)];
  return all.find(([name, value]) => {
    try {
      new Headers([[name, value]]);
      return false;
    } catch {
      return true;
    }
  })?.[0];
}
