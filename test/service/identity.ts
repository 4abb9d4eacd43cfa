/**
 * The demo's identity provider as tests start it: with the keys of the first one of the process. A new RSA key takes
 * 50 ms of the processor, more than all else that a provider needs.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startIdentityProvider } from '../../demo/identity.ts';
import type { IdentityProvider, IdentityProviderOptions } from '../../demo/identity.ts';
import { loadOrCreateProviderKeys } from '../../demo/provider-keys.ts';

const name = 'demo-identity.json';
let keys: Promise<string> | undefined;

export async function startIdentity(options: IdentityProviderOptions): Promise<IdentityProvider> {
  await mkdir(options.dataDir, { recursive: true });
  await writeFile(path.join(options.dataDir, name), await (keys ??= makeKeys()), { mode: 0o600 });
  return startIdentityProvider(options);
}

async function makeKeys(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-keys-'));
  try {
    await loadOrCreateProviderKeys(path.join(folder, name), 'RS256');
    return await readFile(path.join(folder, name), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}
