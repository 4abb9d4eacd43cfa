/** What a surface refused before any use case was reached enters the audit: a forged webhook, a form of another page. */
import type { Audit, AuditEntry } from '../storage/ports/audit.ts';

export type Refusal = Pick<AuditEntry, 'tenant' | 'elicitationId' | 'actor' | 'detail' | 'address'>;

export type RecordRefusal = (refusal: Refusal) => Promise<void>;

export function createRecordRefusal(audit: Pick<Audit, 'record'>): RecordRefusal {
  return (refusal) => audit.record({ at: Date.now(), action: 'refused', ...refusal });
}
