import type { AuditEntry } from '../../storage/storage.ts';
import type { Connected } from './nango-store.ts';

/** `address`: where the hint came from, if a person's. */
export function auditEntryOf(
  { key, elicitationId, actor }: Connected,
  { at, address }: Pick<AuditEntry, 'at' | 'address'>,
): AuditEntry {
  const { tenant, server: detail } = key;
  return { at, tenant, elicitationId: elicitationId ?? '', actor, action: 'connected', detail, address };
}
