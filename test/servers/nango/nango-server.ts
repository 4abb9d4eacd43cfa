/** Listens, and hands every request to the API or to the browser's side. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { startAccountProvider } from './account-provider.ts';
import { authorize } from './authorize.ts';
import { callback } from './callback.ts';
import { answerJson, bodyOf, show } from './exchange.ts';
import type { NangoState, Settings } from './nango-state.ts';
import { rateLimiter } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import { serveApi } from './serve-api.ts';
import { acceptSockets } from './sockets.ts';
import type { NangoDoubleOptions, SeenRequest } from './types.ts';

export interface NangoServer {
  state: NangoState;
  clock: { ahead: number };
  listen(): Promise<void>;
  /** Refuses connections and ends those there are. */
  close(): Promise<void>;
}

export async function openNangoServer(given: NangoDoubleOptions): Promise<NangoServer> {
  const clock = { ahead: 0 };
  const now = () => Date.now() + clock.ahead;
  const options = {
    port: 0,
    tokenLifeMs: 3_600_000,
    refreshWithinMs: 15 * 60_000,
    coolDownMs: 30_000,
    sessionLifeMs: 30 * 60_000,
    requestsPerMinute: 200,
    websocketsPath: '/',
    ...given,
  };
  const server = createServer();
  let port = options.port;
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
    port = address.port;
  };
  await listen();
  const host = `http://127.0.0.1:${port}`;
  const apiKey = randomUUID();
  const redirectUri = () => settings.callbackUrl ?? `${host}/oauth/callback`;
  const settings: Settings = {
    onAuthCreation: true,
    onAuthRefreshError: true,
    webhookUrl: undefined,
    webhook: 'normal',
    webhookRetryMs: [3_000, 6_000],
    dropSuccessFrame: false,
    hang: false,
    retryAfterSeconds: null,
    callbackUrl: null,
    enforceStateCookie: false,
    tokenLifeMs: options.tokenLifeMs,
  };
  const state: NangoState = {
    host,
    apiKey,
    webhookSigningKey: randomUUID(),
    keys: new Map([[apiKey, { name: 'everything', scopes: 'all' }]]),
    options,
    settings,
    provider: await startAccountProvider({ redirectUri, now, settings }),
    sessions: new Map(),
    flows: new Map(),
    connections: [],
    refreshing: new Map(),
    requests: [],
    deliveries: [],
    settled: 0,
    waiting: [],
    sockets: acceptSockets(server, options.websocketsPath),
    now,
  };
  server.on('request', (request, response) => {
    serve(state, limit, request, response).catch(() => response.destroy());
  });
  const limit = rateLimiter(state);
  return { state, clock, listen, close: () => closed(server, state) };
}

async function closed(server: Server, { sockets }: NangoState): Promise<void> {
  const over = once(server, 'close');
  server.close();
  server.closeAllConnections();
  sockets.cut();
  await over;
}

async function serve(
  state: NangoState,
  limit: ReturnType<typeof rateLimiter>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', headers } = request;
  const { pathname, searchParams: query, search } = new URL(request.url ?? '/', state.host);
  const key = headers.authorization?.replace(/^Bearer /, '');
  const seen: SeenRequest = {
    method,
    path: pathname + search.replaceAll(/nango_connect_session_\w+/g, '…'),
    key: key === undefined ? null : (state.keys.get(key)?.name ?? 'unknown'),
    status: null,
  };
  state.requests.push(seen);
  response.on('finish', () => (seen.status = response.statusCode));
  const [, first, second, integration = ''] = pathname.split('/');
  try {
    if (first === 'oauth' && method === 'GET') {
      const shown =
        second === 'callback'
          ? await callback(state, query, headers.cookie ?? '')
          : authorize(state, decodeURIComponent(integration), query);
      return show(response, shown);
    }
    const body = await bodyOf(request);
    // Until the other side gives up, or this one is switched off.
    if (state.settings.hang) return;
    limit(response);
    const api = { method, path: pathname, query, authorization: headers.authorization, body };
    const [status, answer] = await serveApi(state, api);
    answerJson(response, status, answer);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answerJson(response, error.status, error.body, error.headers);
  }
}
