/** A vault on a real database, and a server that wants keys. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type { ConnectionRequired, Credential } from '../../../src/credentials/credential-store.ts';
import { createVaultStore } from '../../../src/credentials/vault.ts';
import type { ConnectionKey } from '../../../src/storage/schema/account-tables.ts';
import { startKeyedServer } from '../../servers/keyed-server.ts';
import type { KeyedServer } from '../../servers/keyed-server.ts';
import { serverConfig } from '../../servers/mcp-server.ts';
import { openTestStorage } from '../../storage/test-storage.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

const remote = openRemoteServers();

export const alice: ConnectionKey = { tenant: 'acme', server: 'tracker', user: 'alice' };
export const bob: ConnectionKey = { ...alice, user: 'bob' };

/** Long enough to be quoted from. */
export const goodKey = 'trk_0123456789abcdefghijab12';

export async function createVault({ keys = parseKeys(generateKey('k1')), now = Date.now } = {}) {
  const { storage, folder } = await openTestStorage();
  return {
    storage,
    store: createVaultStore({ storage, keys, listTools: remote.listTools, now }),
    /** Another process on the same database. */
    another: (others: typeof keys) =>
      createVaultStore({ storage, keys: others, listTools: remote.listTools }),
    /** Every byte of the database. */
    async bytes(): Promise<string> {
      const names = (await readdir(folder)).filter((name) => name.startsWith('test.db'));
      const files = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'latin1')));
      return files.join('');
    },
  };
}

export async function startTracker(
  options: Parameters<typeof startKeyedServer>[0] = { accepted: [`Bearer ${goodKey}`] },
): Promise<KeyedServer & { of: (more?: Partial<ServerConfig>) => ServerConfig }> {
  const server = await startKeyedServer(options);
  onTestFinished(() => server.stop());
  const of = (more: Partial<ServerConfig> = {}) => vaultServer(server.config.url, more);
  return Object.assign(server, { of });
}

/** As the agents file would have it. */
export function vaultServer(url: string, more: Partial<ServerConfig> = {}): ServerConfig {
  const vault = { header: 'authorization', check: true };
  return serverConfig(url, {
    name: 'tracker',
    title: 'Tracker',
    store: 'vault',
    vault,
    timeout: 5_000,
    ...more,
  });
}

export function headersOf(answer: Credential | ConnectionRequired): Record<string, string> {
  if (answer.kind !== 'credential') throw new Error(`asks to connect: ${answer.reason}`);
  return answer.headers;
}
