/** What a test turns and looks at. */
import { randomUUID } from 'node:crypto';
import type { NangoServer } from './nango-server.ts';
import { keep, credentialsFrom } from './nango-state.ts';
import type { NangoState, Settings } from './nango-state.ts';
import { announce, post, signed } from './webhooks.ts';
import type { NangoDouble } from './types.ts';

/** These are fields, read where they matter. */
type Methods = Omit<NangoDouble, keyof Settings>;

export function withKnobs({ state, clock, listen, close }: NangoServer): NangoDouble {
  const { host, apiKey, webhookSigningKey, provider, settings } = state;
  let isUp = true;
  const methods: Methods = {
    host,
    apiKey,
    webhookSigningKey,
    integration: 'tracker',
    otherIntegration: 'notes',
    provider,
    keyFor(...scopes) {
      const key = randomUUID();
      state.keys.set(key, { name: scopes.join(' '), scopes });
      return key;
    },
    requests: state.requests,
    count: (method, path) =>
      state.requests.filter((one) => one.method === method && matches(one.path, path)).length,
    connections: () => state.connections,
    deliveries: state.deliveries,
    delivered: (howMany) => delivered(state, howMany),
    sockets: state.sockets.open,
    socketsEver: state.sockets.ever,
    async replay(delivery = state.deliveries.at(-1)) {
      if (!delivery) throw new Error('nothing was delivered yet');
      return post(delivery.url, delivery.body, delivery.headers);
    },
    forge(url, body, how = 'wrong-key') {
      const text = JSON.stringify(body);
      const headers = signed(how === 'wrong-key' ? randomUUID() : webhookSigningKey, text);
      if (how === 'legacy-only') delete headers['x-nango-hmac-sha256'];
      return post(url, text, how === 'unsigned' ? {} : headers);
    },
    cutSockets: state.sockets.cut,
    async down() {
      if (isUp) await close();
      isUp = false;
    },
    async up() {
      if (!isUp) await listen();
      isUp = true;
    },
    rateLimit: (seconds) => void (settings.retryAfterSeconds = seconds),
    failRefresh: (how) => void (provider.refuseRefresh = how),
    exhaust(connectionId) {
      const connection = state.connections.find((one) => one.connectionId === connectionId);
      if (connection) connection.isExhausted = true;
    },
    advance: (milliseconds) => void (clock.ahead += milliseconds),
    importConnection: (person, tags = {}) => Promise.resolve(imported(state, person, tags)),
    async stop() {
      if (isUp) await close();
      isUp = false;
      await provider.stop();
    },
  };
  return Object.assign(settings, methods);
}

function matches(seen: string, wanted: string): boolean {
  const path = seen.split('?')[0] ?? '';
  return wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted;
}

async function delivered(state: NangoState, howMany: number): Promise<void> {
  while (state.settled < howMany) await new Promise<void>((resolve) => state.waiting.push(resolve));
}

function imported(state: NangoState, person: 'alice' | 'bob', tags: Record<string, string>): string {
  const { accessToken, refreshToken, expiresAt } = state.provider.grantTo(person);
  const credentials = {
    ...credentialsFrom(state, { access_token: accessToken, refresh_token: refreshToken }),
    expiresAt,
  };
  const made = { integration: 'tracker', tags, webhookUrlOverride: null, connectionConfig: {}, credentials };
  const connection = keep(state, made);
  announce(state, connection, 'creation');
  return connection.connectionId;
}
