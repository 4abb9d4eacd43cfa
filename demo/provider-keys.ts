/** The signing and cookie keys of a demo provider, kept between starts so that what it handed out stays good. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';

export interface ProviderKeys {
  jwks: { keys: JWK[] };
  cookieKeys: string[];
}

export async function loadOrCreateProviderKeys(file: string, alg: 'RS256' | 'ES256'): Promise<ProviderKeys> {
  try {
    const keys: ProviderKeys = JSON.parse(await readFile(file, 'utf8'));
    return keys;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      throw new Error(`${file} is damaged; delete it and start again`, { cause: error });
    }
  }
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const key = {
    ...(await exportJWK(privateKey)),
    use: 'sig',
    alg,
    kid: randomBytes(6).toString('hex'),
  };
  const keys = { jwks: { keys: [key] }, cookieKeys: [randomBytes(32).toString('base64url')] };
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, JSON.stringify(keys), { mode: 0o600 });
  await rename(draft, file);
  return keys;
}
