export interface AuditEntry {
  at: number;
  tenant: string;
  /** Empty for what no question is about. */
  elicitationId: string;
  /** Who acted: a user id, or null when unknown. */
  actor: string | null;
  /** Absent: it is about no turn, or about a turn by its question. */
  turnId?: string;
  action: AuditAction;
  /** Low-cardinality detail, never an answer's content. */
  detail: string;
  address: string | null;
}

export type AuditAction =
  /** The person was led to the question's page. */
  | 'opened'
  | 'answered'
  | 'refused'
  | 'connected'
  | 'disconnected'
  | 'withdrawn'
  /** Database and Temporal, by an operator, in no tenant. */
  | 'adopted'
  /** A turn or a question, by an operator. */
  | 'cancelled'
  | 'expired'
  /** The contents of a turn, by an operator. */
  | 'viewed';

export interface Audit {
  record(entry: AuditEntry): Promise<void>;
  /** Oldest first. */
  ofElicitation(elicitationId: string): Promise<AuditEntry[]>;
  /** About the turn or one of its questions, oldest first. */
  ofTurn(turnId: string): Promise<AuditEntry[]>;
}
