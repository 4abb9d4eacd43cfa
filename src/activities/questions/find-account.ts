/** Accounts that are kept in another system, and may have been connected there without our being notified. */
import type { Config, ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';
import type { Storage } from '../../storage/storage.ts';
import { withTimeout } from '../../time/with-timeout.ts';

/** How long another system is waited for before a question about its account expires. */
const lastLookMs = 5_000;

interface LookParts {
  storage: Pick<Storage, 'connections'>;
  config: Pick<Config, 'servers'>;
  storeOf(server: ServerConfig): CredentialStore;
}

/** The account that a question waits for. */
type AwaitedAccount = Pick<ElicitationRow, 'tenant' | 'server' | 'seenVersion'> & { user: string | null };

/** One last look before the question expires, which it does where the other system gives no answer. */
export async function lookForAccount(parts: LookParts, account: AwaitedAccount): Promise<void> {
  const found = findAccount(parts, account).catch(() => false);
  await withTimeout(found, lastLookMs, false);
}

/**
 * True when an account is connected that is newer than the one that did not work; its questions are settled then. Looks
 * into the other system where the account is kept in one.
 */
export async function findAccount(
  { storage, config, storeOf }: LookParts,
  { tenant, user, server: name, seenVersion }: AwaitedAccount,
): Promise<boolean> {
  const server = name === null ? undefined : config.servers.get(name);
  const store = server && storeOf(server);
  if (!server || !store?.catchUp) return false;
  const key = connectionKey(server, { tenant, user });
  await store.catchUp(server, key);
  const connection = await storage.connections.get(key);
  if (connection?.status !== 'active' || connection.version <= (seenVersion ?? 0)) return false;
  await storage.connections.settleConnected(key);
  return true;
}
