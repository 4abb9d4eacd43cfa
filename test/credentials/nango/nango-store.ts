/** A Nango store on a real database, with a double of Nango, clocks that can be turned together, and its log kept. */
import { pino } from 'pino';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import type { NangoAttempt } from '../../../src/credentials/nango/begin.ts';
import type { Confirmation } from '../../../src/credentials/nango/record.ts';
import { createNangoStore } from '../../../src/credentials/nango/nango-store.ts';
import { createConfirmConnection } from '../../../src/service/confirm-connection.ts';
import { toConfirmed } from '../../../src/service/nango-attempts.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type {
  ConnectionRequired,
  Credential,
  CredentialStoreError,
  Unrelated,
} from '../../../src/credentials/credential-store.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { ConnectionKey } from '../../../src/storage/schema/account-tables.ts';
import { postgresUrl } from '../../postgres.ts';
import { serverConfig } from '../../servers/mcp-server.ts';
import { createTurnedClock, openTestStorage } from '../../storage/test-storage.ts';
import { startNangoDouble } from '../../servers/nango/nango-double.ts';
import type { NangoDoubleOptions } from '../../servers/nango/nango-state.ts';
import { walkThrough } from '../../servers/nango/walk.ts';

export const alice: ConnectionKey = { tenant: 'acme', server: 'tracker', user: 'alice' };
export const bob: ConnectionKey = { ...alice, user: 'bob' };
const publicUrl = 'https://interlude.example';

type StoreOptions = Partial<Parameters<typeof createNangoStore>[0]>;

interface Options extends NangoDoubleOptions {
  store?: StoreOptions;
  database?: 'sqlite' | 'postgres';
}

export async function setUpNangoStore(options: Options = {}) {
  const { store: given = {}, database = 'sqlite', ...nangoOptions } = options;
  const nango = await startNangoDouble({ requestsPerMinute: null, ...nangoOptions });
  const { now, turn } = createTurnedClock();
  const { storage, folder, open } = await openTestStorage({
    ...(database === 'postgres' && { database: { kind: 'postgres', url: await postgresUrl() } }),
    now,
  });
  const keys = parseKeys(generateKey('k1'));
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const server: ServerConfig = serverConfig('https://tracker.example/mcp', {
    name: 'tracker',
    title: 'Tracker',
    store: 'nango',
    nango: { integration: nango.integration },
    timeout: 5_000,
  });
  const servers = new Map([[server.name, server]]);

  function openProcess(storage: Storage, more: StoreOptions = {}) {
    const config = {
      host: nango.host,
      publicUrl: nango.host,
      websocketsPath: '/',
      apiKey: nango.apiKey,
      webhookSigningKey: undefined,
    };
    const confirm = createConfirmConnection(storage);
    const store = createNangoStore({
      confirmFound: (found) => confirm(toConfirmed(found, null)),
      storage,
      keys,
      nango: config,
      publicUrl,
      servers,
      logger,
      now,
      ...given,
      ...more,
    });
    return { store, storage };
  }
  const { store } = openProcess(storage);

  const begin = (more: Partial<Parameters<typeof store.begin>[0]> = {}) =>
    store.begin({ server, key: alice, elicitationId: 'q1', actor: 'alice', ...more });

  /** Everything up to the page's success, which is not reported: the id is what Nango's page would send. */
  async function visit({ pageUrl }: NangoAttempt, person?: 'alice' | 'bob'): Promise<string> {
    const before = nango.connections().length;
    const { status, text } = await walkThrough(pageUrl, person);
    if (status !== 200) throw new Error(`not connected: ${status} ${text}`);
    const connection = nango
      .connections()
      .toSorted((one, other) => one.updatedAt - other.updatedAt)
      .at(-1);
    if (!connection || nango.connections().length < before) throw new Error('nothing was connected');
    return connection.connectionId;
  }

  return {
    nango,
    folder,
    keys,
    server,
    servers,
    store,
    storage,
    lines,
    begin,
    visit,
    /** All the way, as the page would go it. */
    async connect(more: Parameters<typeof begin>[0] = {}, person?: 'alice' | 'bob') {
      const attempt = await begin(more);
      const connectionId = await visit(attempt, person);
      const confirmation = await store.confirm(attempt.id, connectionId);
      if (confirmation.kind !== 'connected') throw new Error(`not recorded: ${confirmation.kind}`);
      return { ...confirmation, attempt, connectionId };
    },
    resolve: (key: ConnectionKey = alice) => store.resolve(server, key),
    catchUp: async (of: Pick<typeof store, 'catchUp'>) => of.catchUp?.(server, alice),
    row: (key: ConnectionKey = alice) => storage.connections.get(key),
    /** Another process on the same database. */
    another: async (more?: StoreOptions) => openProcess(await open(), more),
    /** Turns our clock and Nango's. */
    later(milliseconds: number) {
      turn(milliseconds);
      nango.advance(milliseconds);
    },
    /** Turns only ours. */
    ourClock: turn,
    reads: () => nango.count('GET', '/connections/*'),
    lists: () => nango.count('GET', '/connections'),
  };
}

export type NangoStoreSetup = Awaited<ReturnType<typeof setUpNangoStore>>;

export function tokenIn(found: Credential | ConnectionRequired | Unrelated): string {
  if (found.kind !== 'credential') throw new Error(`no credential: ${JSON.stringify(found)}`);
  return found.headers['authorization']?.replace('Bearer ', '') ?? '';
}

export function credentialIn(found: Credential | ConnectionRequired | Unrelated): Credential {
  if (found.kind !== 'credential') throw new Error(`no credential: ${JSON.stringify(found)}`);
  return found;
}

export function connectedIn(found: Confirmation) {
  if (found.kind !== 'connected') throw new Error(`not connected: ${found.kind}`);
  return found;
}

export async function failureOf(promise: Promise<unknown>): Promise<CredentialStoreError> {
  const error: unknown = await promise.then(
    (value) => new Error(`did not fail: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error) || error.name !== 'CredentialStoreError') throw error;
  return error as CredentialStoreError;
}
