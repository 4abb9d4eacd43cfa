import { sleep } from '@temporalio/activity';
import type { ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { ConnectionRequired, Credential, CredentialStore } from '../../credentials/store.ts';
import type { Turn } from '../../turn/turn.ts';

export type ResolvedCredential = Credential | ConnectionRequired;

const tries = 3;
const pauseMs = 500;

/** Once an account was connected for this call, a connection that was just made may take a moment to be visible here. */
export async function resolveCredential(
  store: CredentialStore,
  server: ServerConfig,
  { turn, connects }: { turn: Turn; connects: number },
): Promise<ResolvedCredential> {
  const key = connectionKey(server, turn);
  let found = await store.resolve(server, key);
  for (let count = 0; connects > 0 && count < tries && isMissing(found); count++) {
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
