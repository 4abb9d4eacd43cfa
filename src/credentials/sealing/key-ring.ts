/**
 * Secrets at rest: AES-256-GCM under a ring of named keys. The newest key seals, and every key of the ring opens. A key is
 * replaced by putting a new one in front, and removed once nothing is sealed with it.
 *
 * `context` names what the secret belongs to. It is additional authenticated data, so a sealed value that is copied to
 * another row does not open there. The keys are kept in a closure: printing or serialising the ring shows none.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface KeyRing {
  /** Names of the keys, newest first. */
  ids: string[];
  /** With the newest key, or with the named one. */
  seal(plaintext: string, context: string, keyId?: string): string;
  /** Throws `SealingError` when the key is not in the ring, or the value or context was changed. */
  open(sealed: string, context: string): string;
}

export class SealingError extends Error {
  override name = 'SealingError';
  readonly code: 'malformed' | 'unknown-key' | 'damaged';
  constructor(code: SealingError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

interface Key {
  id: string;
  bytes: Buffer;
}

/** Reads `id:base64,…` (32 bytes each, newest first). Throws a `SealingError` that lists every problem, never a key. */
export function parseKeys(text: string): KeyRing {
  const problems: string[] = [];
  const keys: Key[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const [id, encoded, ...rest] = entry.trim().split(':');
    const which = `key ${index + 1}`;
    if (!id || encoded === undefined || rest.length > 0) {
      problems.push(`${which}: write id:base64`);
      continue;
    }
    const bytes = Buffer.from(encoded, 'base64');
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
      problems.push(`${which}: its id may have 1–32 of A-Z, a-z, 0-9, - and _`);
    else if (keys.some((key) => key.id === id)) problems.push(`${which}: the id "${id}" is used twice`);
    else if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) problems.push(`${which} ("${id}"): not base64`);
    else if (bytes.length !== 32) problems.push(`${which} ("${id}"): ${bytes.length} bytes instead of 32`);
    else keys.push({ id, bytes });
  }
  if (problems.length > 0) {
    const remedy = 'make a key with: echo "k1:$(openssl rand -base64 32)"';
    throw new SealingError('malformed', `INTERLUDE_KEYS: ${problems.join('; ')}; ${remedy}`);
  }
  return keyRing(keys);
}

/** The beginning of every value that this key has sealed. */
export function prefixOf(keyId: string): string {
  return `${version}.${keyId}.`;
}

/** The key that has sealed this, whether or not it is in the ring; null when it is not a sealed value. */
export function sealedWith(sealed: string): string | null {
  const [prefix, id, encoded, ...rest] = sealed.split('.');
  return prefix === version && id && encoded !== undefined && rest.length === 0 ? id : null;
}

/** A new key in the form of `INTERLUDE_KEYS`. */
export function generateKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}

function keyRing(keys: Key[]): KeyRing {
  const sealing = keys.map(({ id, bytes }) => ({
    id,
    key: new Uint8Array(hkdfSync('sha256', bytes, '', 'interlude/sealing', 32)),
  }));
  const newest = sealing[0];
  if (!newest) throw new SealingError('malformed', 'INTERLUDE_KEYS: at least one key is needed');

  return {
    ids: keys.map((key) => key.id),
    seal(plaintext, context, keyId = newest.id) {
      const key = sealing.find(({ id }) => id === keyId);
      if (!key) throw new SealingError('unknown-key', `there is no key "${keyId}" to seal with`);
      return sealWith(key, plaintext, context);
    },
    open(sealed, context) {
      const [prefix, id, encoded, ...rest] = sealed.split('.');
      if (prefix !== version || id === undefined || encoded === undefined || rest.length > 0) {
        throw new SealingError('malformed', 'not a sealed value');
      }
      const key = sealing.find((candidate) => candidate.id === id);
      if (!key) {
        throw new SealingError(
          'unknown-key',
          `sealed with the key "${id}", which INTERLUDE_KEYS does not have; put it back`,
        );
      }
      return openWith(key, encoded, context);
    },
  };
}

interface DerivedKey {
  id: string;
  key: Uint8Array;
}

function sealWith({ id, key }: DerivedKey, plaintext: string, context: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  cipher.setAAD(additionalAuthenticatedData(id, context));
  const body = Buffer.concat([iv, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${prefixOf(id)}${body.toString('base64url')}`;
}

function openWith({ id, key }: DerivedKey, encoded: string, context: string): string {
  const body = Buffer.from(encoded, 'base64url');
  // Node ignores invalid characters, so one sealed value would have many spellings.
  const isCanonical = body.toString('base64url') === encoded;
  if (!isCanonical || body.length < ivBytes + tagBytes)
    throw new SealingError('malformed', 'not a sealed value');
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(additionalAuthenticatedData(id, context));
  decipher.setAuthTag(body.subarray(-tagBytes));
  try {
    return decipher.update(body.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new SealingError(
      'damaged',
      `does not open with the key "${id}": changed, or it belongs to something else`,
    );
  }
}

function additionalAuthenticatedData(id: string, context: string): Buffer {
  return Buffer.from(`${version}\n${id}\n${context}`, 'utf8');
}
