/**
 * API keys of services: `ilk_<id>_<secret>`. The secret is 256 random bits, so a plain SHA-256 is enough; a slow hash would
 * only slow every request.
 */
import { hash, randomBytes } from 'node:crypto';
import type { ApiKey, ApiKeys, KeyRights } from '../storage/tables/api-keys.ts';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';
import { isTenantName } from './principal.ts';
import { sameText } from './sealed-text.ts';

const usedEveryMs = 60_000;
const serviceName = /^[A-Za-z0-9._-]{1,64}$/;
const form = /^ilk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

export function isApiKey(credential: string): boolean {
  return credential.startsWith('ilk_');
}

/**
 * Makes a key for a tenant. Its text exists only in the result. `service`: the key's owner; by default, a service of its own
 * named by the key's id.
 */
export async function createApiKey(
  storage: Pick<Storage, 'apiKeys'>,
  tenant: string,
  createdBy: string | null = null,
  { service, ...rights }: Partial<KeyRights> & { service?: string | undefined } = {},
): Promise<string> {
  if (!isTenantName(tenant)) throw new Error('The tenant has to be a name without control characters.');
  if (service !== undefined && !serviceName.test(service))
    throw new Error('The service has to be a name of 1–64 letters, digits, ".", "_" and "-".');
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  await storage.apiKeys.create({
    id,
    tenant,
    service: service ?? id,
    hash: hashOf(secret),
    createdBy,
    ...rights,
  });
  return `ilk_${id}_${secret}`;
}

/** `unauthenticated` when the key is unknown or revoked. */
export async function findApiKey(apiKeys: ApiKeys, credential: string): Promise<ApiKey> {
  const [, id, secret] = form.exec(credential) ?? [];
  const key = id === undefined ? null : await apiKeys.get(id);
  if (!key || !secret || !sameText(key.hash, hashOf(secret))) {
    throw new ServiceError(
      'unauthenticated',
      'This API key is not known here; check that it was copied whole.',
    );
  }
  if (key.revokedAt !== null) {
    throw new ServiceError('unauthenticated', 'This API key was revoked; ask the operator for a new one.');
  }
  // At most one write a minute. The request does not fail with it.
  if (key.lastUsedAt === null || Date.now() - key.lastUsedAt > usedEveryMs)
    await apiKeys.used(key.id).catch(() => undefined);
  return key;
}

function hashOf(secret: string): string {
  return hash('sha256', secret);
}
