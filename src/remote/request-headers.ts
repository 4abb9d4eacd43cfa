/** The headers of every request to a server: the operator's, and those of somebody's account. */
import type { ServerConfig } from '../config/config.ts';
import type { Credential } from '../credentials/store.ts';

/** Names are compared without case: `Authorization` of the one replaces `authorization` of the other. */
export function headersOf(server: ServerConfig, credential: Credential): Headers {
  const headers = new Headers(server.headers);
  for (const [name, value] of Object.entries(credential.headers)) headers.set(name, value);
  return headers;
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
