/**
 * A separate process on a test's database. Its first message is the task; at the second it resolves one account many
 * times at once, and it answers with the ids of the tokens it got.
 */
import { createOAuthStore } from '../../src/credentials/mcp-oauth/oauth-store.ts';
import { parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import type { Config, ServerConfig } from '../../src/platform/config/config.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { ConnectionKey } from '../../src/storage/schema/account-tables.ts';

export interface Task {
  database: Config['database'];
  keys: string;
  publicUrl: string;
  server: ServerConfig;
  key: ConnectionKey;
  aheadMs: number;
  times: number;
}

process.once('message', (message) => void prepare(message as Task));

async function prepare({ database, keys, publicUrl, server, key, aheadMs, times }: Task): Promise<void> {
  const now = () => Date.now() + aheadMs;
  const storage = await openStorage(database, { now });
  const store = createOAuthStore({ storage, keys: parseKeys(keys), publicUrl, now });
  process.once('message', () => void go());
  process.send?.('ready');

  async function go(): Promise<void> {
    const found = await Promise.all(Array.from({ length: times }, () => store.resolve(server, key)));
    process.send?.(found.map((one) => (one.kind === 'credential' ? one.tokenId : one.reason)));
    await storage.close();
    process.disconnect();
  }
}
