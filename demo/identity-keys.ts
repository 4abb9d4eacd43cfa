/** The demo provider's signing key, kept between starts so that tokens handed out earlier stay good. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';

export interface IdentityKeys {
  jwks: { keys: JWK[] };
  cookieKeys: string[];
}

export async function loadOrCreateIdentityKeys(dataDir: string): Promise<IdentityKeys> {
  const file = path.join(dataDir, 'demo-identity.json');
  try {
    const keys: IdentityKeys = JSON.parse(await readFile(file, 'utf8'));
    return keys;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      throw new Error(`${file} is damaged; delete it and start again`, { cause: error });
    }
  }
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = {
    ...(await exportJWK(privateKey)),
    use: 'sig',
    alg: 'RS256',
    kid: randomBytes(6).toString('hex'),
  };
  const keys = { jwks: { keys: [key] }, cookieKeys: [randomBytes(32).toString('base64url')] };
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, JSON.stringify(keys), { mode: 0o600 });
  await rename(draft, file);
  return keys;
}
