export interface AuditEntry {
  at: number;
  tenant: string;
  /** Empty for what no question is about. */
  elicitationId: string;
  /** Who acted: a user id, or null when unknown. */
  actor: string | null;
  /** `opened`: the person was led to the question's page. `adopted`: database and Temporal, by an operator, in no tenant. */
  action: 'opened' | 'answered' | 'refused' | 'connected' | 'disconnected' | 'withdrawn' | 'adopted';
  /** Low-cardinality detail, never an answer's content. */
  detail: string;
  address: string | null;
}

export interface Audit {
  record(entry: AuditEntry): Promise<void>;
  ofElicitation(elicitationId: string): Promise<AuditEntry[]>;
}
