export interface ApiKeys {
  create(
    key: Pick<ApiKey, 'id' | 'tenant' | 'service' | 'hash' | 'createdBy'> & Partial<KeyRights>,
  ): Promise<void>;
  get(id: string): Promise<ApiKey | null>;
  /** Of one tenant, or of all; revoked ones, too. */
  list(tenant: string | null): Promise<ApiKey[]>;
  /** False when there is none. Revoked again, it stays revoked since the first time. */
  revoke(id: string): Promise<boolean>;
  /** It was used just now. */
  used(id: string): Promise<void>;
}

/** None unless given. */
export interface KeyRights {
  /** It may name a user of its tenant, and is that user then. */
  actsForUsers: boolean;
  /** So named, it may also approve calls that wait for that user's approval. */
  approvesForUsers: boolean;
}

export interface ApiKey extends KeyRights {
  id: string;
  tenant: string;
  /** Whose key it is; keys of one service replace each other. Null: made before services had names. */
  service: string | null;
  hash: string;
  /** Who made it, as that person's machine says; null for older ones. */
  createdBy: string | null;
  createdAt: number;
  /** Within a minute. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}
