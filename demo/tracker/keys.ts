/** Signing and cookie keys of Tracker's authorization server, kept between starts. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import { openJsonFile } from './json-file.ts';

export interface TrackerKeys {
  jwks: { keys: JWK[] };
  cookieKeys: string[];
}

export async function loadOrCreateTrackerKeys(dataDir: string): Promise<TrackerKeys> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const fresh = {
    ...(await exportJWK(privateKey)),
    use: 'sig',
    alg: 'ES256',
    kid: randomBytes(6).toString('hex'),
  };
  const file = openJsonFile<TrackerKeys>(path.join(dataDir, 'keys.json'), () => ({
    jwks: { keys: [fresh] },
    cookieKeys: [randomBytes(32).toString('base64url')],
  }));
  file.save();
  return file.data;
}
