/** The HTTP requests of one operation at a remote agent: with its headers, kept to its place, and traced. */
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { headersOf, withTrace } from '../request-headers.ts';
import { trackedRequest } from '../tracked-request.ts';
import type { RequestTrace } from '../tracked-request.ts';

export interface AgentRequests {
  /** For the SDK. */
  fetch: typeof fetch;
  /** The latest request. */
  last(): RequestTrace | undefined;
}

interface Options {
  server: ServerConfig;
  credential: Credential;
  signal: AbortSignal;
  onSending?: (() => void) | undefined;
}

/** Methods that begin nothing. */
const harmless = /"method":"(?:GetTask|SubscribeToTask|tasks\/get|tasks\/resubscribe)"/;

export function createAgentRequests({ server, credential, signal, onSending }: Options): AgentRequests {
  let latest: RequestTrace | undefined;
  return {
    fetch: ((url: string | URL, init?: RequestInit) => {
      const trace: RequestTrace = { isSent: false, isStream: false, challenge: null };
      latest = trace;
      const headers = new Headers(init?.headers);
      for (const [name, value] of headersOf(server, credential)) headers.set(name, value);
      const isHarmless =
        init?.method === 'GET' || (typeof init?.body === 'string' && harmless.test(init.body.slice(0, 200)));
      return trackedRequest(url, withTrace(server, { ...init, headers }), trace, {
        signal: init?.signal ? AbortSignal.any([signal, init.signal]) : signal,
        onSending,
        isHarmless,
      });
    }) as typeof fetch,
    last: () => latest,
  };
}
