export interface ApiKeys {
  create(key: Pick<ApiKey, 'id' | 'tenant' | 'hash' | 'createdBy'>): Promise<void>;
  get(id: string): Promise<ApiKey | null>;
  /** Of one tenant, or of all; revoked ones, too. */
  list(tenant: string | null): Promise<ApiKey[]>;
  /** False when there is none. Revoked again, it stays revoked since the first time. */
  revoke(id: string): Promise<boolean>;
  /** It was used just now. */
  used(id: string): Promise<void>;
}

export interface ApiKey {
  id: string;
  tenant: string;
  hash: string;
  /** Who made it, as that person's machine says; null for older ones. */
  createdBy: string | null;
  createdAt: number;
  /** Within a minute. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}
