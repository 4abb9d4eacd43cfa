/**
 * Nango's server as it was measured to behave: REST, the browser's way to a provider and back, the WebSocket and the
 * webhooks, with knobs for all that goes wrong with it. Nothing of the real one is in it; the suite that tests against
 * this runs against a real one too, see docs/nango.md.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { sendJson, serve } from '../serve.ts';
import type { Exchange } from '../serve.ts';
import { startAccountProvider } from './account-provider.ts';
import { credentialsFrom, keep } from './nango-state.ts';
import type { Delivery, NangoDoubleOptions, NangoState, Scope, Settings, Tags } from './nango-state.ts';
import { authorize, callback, callbackUrl } from './oauth-flow.ts';
import { Refusal, serveApi } from './rest-api.ts';
import { createSockets } from './sockets.ts';
import { announce, post, signed } from './webhooks.ts';

/** Listens, and hands every request to the API or to the browser's side. */
async function openNangoServer(given: NangoDoubleOptions) {
  const clock = { ahead: 0 };
  const now = () => Date.now() + clock.ahead;
  const options = {
    port: 0,
    tokenLifeMs: 3_600_000,
    refreshWithinMs: 15 * 60_000,
    sessionLifeMs: 30 * 60_000,
    requestsPerMinute: 200,
    websocketsPath: '/',
    ...given,
  };
  const sockets = createSockets(options.websocketsPath);
  const listen = async (wanted: number) => {
    const listening = await serve((exchange) => answer(state, limit, exchange), wanted);
    sockets.attach(listening.server);
    return listening;
  };
  let served = await listen(options.port);
  const { port } = served;
  const host = served.origin;
  const apiKey = randomUUID();
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
    provider: await startAccountProvider({
      redirectUri: () => callbackUrl({ settings, host }),
      now,
      settings,
    }),
    sessions: new Map(),
    flows: new Map(),
    connections: [],
    refreshing: new Map(),
    requests: [],
    deliveries: [],
    settled: 0,
    waiting: [],
    sockets,
    now,
  };
  const limit = rateLimiter(state);
  const close = async () => {
    const closed = served.stop();
    sockets.cut();
    await closed;
  };
  const reopen = async () => void (served = await listen(port));
  return { state, clock, listen: reopen, close };
}

async function answer(
  state: NangoState,
  limit: ReturnType<typeof rateLimiter>,
  { request, response, url, body: text }: Exchange,
): Promise<void> {
  const { method = 'GET', headers } = request;
  const { pathname, searchParams: query, search } = url;
  const key = headers.authorization?.replace(/^Bearer /, '');
  const seen: NangoState['requests'][number] = {
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
      const page = { 'content-type': 'text/html; charset=utf-8', ...shown.headers };
      return void response.writeHead(shown.status, page).end(shown.html);
    }
    const body = parsed(text);
    // Until the other side gives up, or this one is switched off.
    if (state.settings.hang) return;
    limit(response);
    const api = { method, path: pathname, query, authorization: headers.authorization, body };
    const [status, result] = await serveApi(state, api);
    answerJson(response, status, result);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answerJson(response, error.status, error.body, error.headers);
  }
}

export type NangoDouble = ReturnType<typeof withKnobs>;

/** What a test turns and looks at, beside the settings, which are fields of it. */
function withKnobs({ state, clock, listen, close }: Awaited<ReturnType<typeof openNangoServer>>) {
  const { host, apiKey, webhookSigningKey, provider, settings } = state;
  let isUp = true;
  return Object.assign(settings, {
    host,
    apiKey,
    webhookSigningKey,
    integration: 'tracker' as const,
    otherIntegration: 'notes' as const,
    provider,
    /** Makes a key that may do only this. */
    keyFor(...scopes: Scope[]): string {
      const key = randomUUID();
      state.keys.set(key, { name: scopes.join(' '), scopes });
      return key;
    },
    requests: state.requests,
    /** How many requests of this method and path (without query) were seen; the path may end with `*`. */
    count: (method: string, path: string) =>
      state.requests.filter((one) => one.method === method && matches(one.path, path)).length,
    connections: () => state.connections,
    deliveries: state.deliveries as readonly Delivery[],
    /** Resolves when so many webhooks in all have been delivered or given up. */
    async delivered(howMany: number): Promise<void> {
      while (state.settled < howMany) await new Promise<void>((resolve) => state.waiting.push(resolve));
    },
    socketsEver: state.sockets.ever,
    cutSockets: state.sockets.cut,
    /** Sends the same bytes again, as an attacker could. Returns the status. */
    async replay(delivery = state.deliveries.at(-1)): Promise<number> {
      if (!delivery) throw new Error('nothing was delivered yet');
      return post(delivery.url, delivery.body, delivery.headers);
    },
    /** A webhook without the signing key, or with only the legacy signature of the real one. */
    forge(
      url: string,
      body: object,
      how: 'wrong-key' | 'legacy-only' | 'unsigned' | 'signed' = 'wrong-key',
    ): Promise<number> {
      const text = JSON.stringify(body);
      const headers = signed(how === 'wrong-key' ? randomUUID() : webhookSigningKey, text);
      if (how === 'legacy-only') delete headers['x-nango-hmac-sha256'];
      return post(url, text, how === 'unsigned' ? {} : headers);
    },
    /** Connections to it are refused. Resolves when they are. */
    async down(): Promise<void> {
      if (isUp) await close();
      isUp = false;
    },
    async up(): Promise<void> {
      if (!isUp) await listen();
      isUp = true;
    },
    /** Every API request from now on gets 429; `null` ends it. */
    rateLimit: (seconds: number | null) => void (settings.retryAfterSeconds = seconds),
    /** How the provider treats refreshes; both look alike from outside Nango. Null: it grants them. */
    failRefresh: (how: 'invalid_grant' | 'outage' | null) => void (provider.refuseRefresh = how),
    /** Refreshing failed on four days. */
    exhaust(connectionId: string): void {
      const connection = state.connections.find((one) => one.connectionId === connectionId);
      if (connection) connection.isExhausted = true;
    },
    /** Moves the clock of the double and its provider forward. */
    advance: (milliseconds: number) => void (clock.ahead += milliseconds),
    /** Puts a connection there as an operator could. */
    importConnection: (person: 'alice' | 'bob', tags: Tags = {}) =>
      Promise.resolve(imported(state, person, tags)),
    async stop(): Promise<void> {
      if (isUp) await close();
      isUp = false;
      await provider.stop();
    },
  });
}

function matches(seen: string, wanted: string): boolean {
  const path = seen.split('?')[0] ?? '';
  return wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted;
}

function imported(state: NangoState, person: 'alice' | 'bob', tags: Record<string, string>): string {
  const { accessToken, refreshToken, expiresAt } = state.provider.grantTo(person);
  const credentials = {
    ...credentialsFrom(state, { access_token: accessToken, refresh_token: refreshToken }),
    expiresAt,
  };
  const connection = keep(state, 'tracker', { tags, connectionConfig: {}, credentials });
  announce(state, connection, 'creation');
  return connection.connectionId;
}

/** So many requests in a minute, then 429 with `Retry-After`. */
function rateLimiter(state: NangoState): (response: ServerResponse) => void {
  let from = state.now();
  let used = 0;
  return (response) => {
    const { retryAfterSeconds } = state.settings;
    if (retryAfterSeconds !== null) throw tooMany(retryAfterSeconds);
    const { requestsPerMinute } = state.options;
    if (requestsPerMinute === null) return;
    if (state.now() - from >= 60_000) {
      from = state.now();
      used = 0;
    }
    used++;
    const rest = Math.ceil((from + 60_000 - state.now()) / 1000);
    response.setHeader('x-ratelimit-limit', requestsPerMinute);
    response.setHeader('x-ratelimit-remaining', Math.max(0, requestsPerMinute - used));
    response.setHeader('x-ratelimit-reset', Math.floor((from + 60_000) / 1000));
    if (used > requestsPerMinute) throw tooMany(rest);
  };
}

function tooMany(seconds: number): Refusal {
  return new Refusal(429, 'too_many_request', {}, { 'retry-after': String(seconds) });
}

function answerJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  if (body === undefined) response.writeHead(status, headers).end();
  else sendJson(response, body, status, headers);
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_body', { message: 'The body is not JSON' });
  }
}

/** Stops with the test. */
export async function startNangoDouble(options: NangoDoubleOptions = {}): Promise<NangoDouble> {
  const double = await openNangoDouble(options);
  onTestFinished(() => double.stop());
  return double;
}

export async function openNangoDouble(options: NangoDoubleOptions = {}): Promise<NangoDouble> {
  return withKnobs(await openNangoServer(options));
}
