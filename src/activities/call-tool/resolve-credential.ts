import { sleep } from '@temporalio/activity';
import type { ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { ConnectionRequired, Credential, CredentialStore } from '../../credentials/store.ts';
import type { Turn } from '../../turn/turn.ts';

export type ResolvedCredential = Credential | ConnectionRequired;

const tries = 3;
const pauseMs = 500;

/**
 * `wasConnected`: whether an account was connected for this call. It may take a moment until that is visible here, and
 * until then it is missing.
 */
export async function resolveCredential(
  store: CredentialStore,
  server: ServerConfig,
  turn: Turn,
  wasConnected: () => Promise<boolean>,
): Promise<ResolvedCredential> {
  const key = connectionKey(server, turn);
  let found = await store.resolve(server, key);
  for (let count = 0; count < tries && isMissing(found) && (await wasConnected()); count++) {
    await sleep(pauseMs);
    found = await store.resolve(server, key);
  }
  return found;
}

/** For what can do without: null also when the store cannot tell. */
export async function credentialOrNone(
  store: CredentialStore,
  server: ServerConfig,
  turn: Turn,
): Promise<Credential | null> {
  const found = await store.resolve(server, connectionKey(server, turn)).catch(() => null);
  return found?.kind === 'credential' ? found : null;
}

function isMissing(found: ResolvedCredential): boolean {
  return found.kind === 'connection-required' && found.reason === 'missing';
}
