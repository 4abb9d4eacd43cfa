/** API keys that people enter on our page, stored sealed. */
import { z } from 'zod';
import type { ServerConfig } from '../platform/config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../storage/schema/account-tables.ts';
import type { KeyProblem } from '@interlude-ai/core/elicitation/wording.ts';
import type { Storage } from '../storage/storage.ts';
import { requireOwner, requireScope } from './connection-key.ts';
import { requestedScopes } from '@interlude-ai/core/oauth/scopes.ts';
import {
  afterDoubtfulRefusal,
  connectionRequired,
  fitsInHeader,
  noCredential,
  CredentialStoreError,
  shownServer,
  tokenIdOf,
} from './credential-store.ts';
import type { ConnectionRequired, Credential, CredentialStore, Resolution } from './credential-store.ts';
import { SealingError } from './sealing/key-ring.ts';
import type { KeyRing } from './sealing/key-ring.ts';

export interface VaultStore extends CredentialStore {
  readonly connectedBy: 'key';
  /**
   * Tries the key at its server, if that is configured, and stores it in place of the previous one. Failures of the server
   * are outcomes.
   */
  keep(server: ServerConfig, key: ConnectionKey, entered: string): Promise<Kept>;
}

/** Only `kept` means that the key was stored. */
export type Kept =
  | { kind: 'kept'; version: number; account: string | null }
  | { kind: 'not-kept'; problem: KeyProblem };

interface Options {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  listTools: ListTools;
  now?: () => number;
}

export function createVaultStore({ storage, keys, listTools, now = Date.now }: Options): VaultStore {
  const { connections } = storage;

  async function resolve(server: ServerConfig, wanted: ConnectionKey): Promise<Resolution> {
    if (server.credentialScope === 'none') return noCredential;
    const key = requireOwner(server, wanted);
    const row = await connections.get(key);
    // The version of a removed connection: a late signal about it must not settle the new question.
    if (!row) return connectionRequired('missing', await connections.lastVersion(key));
    // A key of another store, or for another address, must not be sent to this one.
    if (row.store !== 'vault') return connectionRequired('missing', row.version);
    const opened = openKey(keys, row);
    if (opened.kind === 'unreadable')
      throw new CredentialStoreError({ code: 'key_sealed', server: shownServer(server), why: opened.why });
    const { apiKey, serverUrl } = opened.kept;
    if (serverUrl !== server.url) return connectionRequired('missing', row.version);
    if (row.status === 'broken') return connectionRequired(row.brokenReason ?? 'rejected', row.version);
    return credentialOf(server, apiKey, row.version);
  }

  return {
    connectedBy: 'key',
    resolve,
    async reject(server, wanted, { version, status, challenge, isDoubtful }) {
      if (server.credentialScope === 'none') return connectionRequired('rejected', version);
      const key = requireOwner(server, wanted);
      const row = await connections.get(key);
      // The key has changed since: resolve it again.
      if (row?.version !== version || row.status === 'broken') return resolve(server, key);
      if (status === 403) return forbidden(version, challenge);
      if (isDoubtful) return afterDoubtfulRefusal(row, { connectedAt: row.updatedAt, now: now() });
      // A single refused call does not mark a shared account as broken.
      if (key.user !== null) await connections.markBroken(key, version, 'rejected');
      return connectionRequired('rejected', version);
    },
    async keep(server, wanted, entered) {
      const apiKey = entered.trim();
      const malformed = problemOf(apiKey);
      if (malformed) return { kind: 'not-kept', problem: malformed };
      const key = requireScope(server, wanted);
      const problem = server.vault?.check === false ? null : await tryKey(listTools, server, apiKey);
      if (problem) return { kind: 'not-kept', problem };
      const account = accountOf(apiKey);
      const version = await connections.establish(key, {
        store: 'vault',
        account,
        scopes: [],
        sealed: sealKey(keys, key, { apiKey, serverUrl: server.url }),
        freshUntil: null,
      });
      return { kind: 'kept', version, account };
    },
    statusOf(row, server) {
      const opened = openKey(keys, row);
      if (opened.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
      const { serverUrl } = opened.kept;
      const { host } = new URL(serverUrl);
      if (serverUrl !== server?.url) return { host, status: 'broken', reason: 'server_changed' };
      return row.status === 'broken'
        ? { host, status: 'broken', reason: 'rejected' }
        : { host, status: 'active' };
    },
    async disconnect(key) {
      const row = await connections.remove(key);
      return row ? { kind: 'removed', revocation: { kind: 'not-offered' } } : { kind: 'nothing-there' };
    },
  };
}

/** The key stays active for what it may do. */
function forbidden(version: number, challenge: string | null): ConnectionRequired {
  const asked = requestedScopes(challenge);
  return asked === null
    ? connectionRequired('rejected', version)
    : connectionRequired('insufficient_scope', version, asked);
}

/** Lists the tools of a server. Passed in, because stores know no protocol. */
export type ListTools = (
  server: ServerConfig,
  credential: Credential,
  signal: AbortSignal,
) => Promise<
  | { kind: 'tools' }
  /** `otherwise`: present when the answer may not be about the key. */
  | { kind: 'refused'; status: number; otherwise?: { message: string } }
  | { kind: 'unreachable'; message: string }
>;

/** A person waits for the page. */
const timeoutMs = 10_000;

/** Lists the tools of the server with the key, which runs none of them. Redirects are not followed. */
async function tryKey(
  listTools: ListTools,
  server: ServerConfig,
  apiKey: string,
): Promise<KeyProblem | null> {
  const limited = { ...server, timeout: Math.min(server.timeout, timeoutMs) };
  const listed = await listTools(limited, credentialOf(server, apiKey, 0), new AbortController().signal);
  switch (listed.kind) {
    case 'tools':
      return null;
    case 'refused':
      return {
        code: listed.otherwise ? 'unclear' : 'refused',
        // If every key is refused, the header may be wrong.
        reason: `it answered HTTP ${listed.status} to a key in its header ${headerOf(server)}${listed.otherwise ? `; ${listed.otherwise.message}` : ''}`,
      };
    case 'unreachable':
      return { code: 'not-tried', reason: listed.message };
    default:
      return listed satisfies never;
  }
}

const longestKey = 4_096;

/** Accepts only characters that every server reads alike in a header. */
function problemOf(apiKey: string): KeyProblem | null {
  const { length } = apiKey;
  if (length === 0) return { code: 'empty' };
  if (length > longestKey) return { code: 'too-long', length, most: longestKey };
  if (/\s/.test(apiKey)) return { code: 'space' };
  return fitsInHeader(apiKey) ? null : { code: 'character' };
}

/** The last characters of a shorter key would reveal too much. */
const longEnoughToQuote = 24;

/** For its owner to recognise the key. */
function accountOf(apiKey: string): string | null {
  return apiKey.length < longEnoughToQuote ? null : `key ending in …${apiKey.slice(-4)}`;
}

const keptKeySchema = z.object({
  apiKey: z.string(),
  /** The only address that the key may be sent to. */
  serverUrl: z.string(),
});
type KeptKey = z.infer<typeof keptKeySchema>;

export function sealKey(keys: KeyRing, key: ConnectionKey, kept: KeptKey): string {
  return keys.seal(JSON.stringify(kept), apiKeyContext(key));
}

export function openKey(
  keys: KeyRing,
  row: ConnectionRow,
): { kind: 'key'; kept: KeptKey } | { kind: 'unreadable'; why: string } {
  try {
    return { kind: 'key', kept: keptKeySchema.parse(JSON.parse(keys.open(row.sealed, apiKeyContext(row)))) };
  } catch (error) {
    const why = error instanceof SealingError ? error.message : 'has an unknown form';
    return { kind: 'unreadable', why };
  }
}

/** As a JSON list, no two keys can give the same context. */
export function apiKeyContext({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['api-key', tenant, server, user]);
}

/** By the current configuration, so that a corrected header does not require a new key. */
function credentialOf(server: ServerConfig, apiKey: string, version: number): Credential {
  const scheme = schemeOf(server);
  return {
    kind: 'credential',
    headers: { [headerOf(server)]: scheme === '' ? apiKey : `${scheme} ${apiKey}` },
    version,
    tokenId: tokenIdOf(apiKey),
  };
}

function headerOf({ vault }: ServerConfig): string {
  return vault?.header ?? 'authorization';
}

function schemeOf(server: ServerConfig): string {
  return server.vault?.scheme ?? (headerOf(server).toLowerCase() === 'authorization' ? 'Bearer' : '');
}
