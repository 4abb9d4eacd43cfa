import type { ConnectionKey } from './connections.ts';

/** One value that its writer sealed, and where it is kept. */
export type SealedValue = { sealed: string } & (
  | ({ table: 'connections'; store: string } & ConnectionKey)
  | { table: 'oauth_records'; key: string }
  | { table: 'oauth_attempts'; stateHash: string }
  | { table: 'elicitation_answers'; elicitationId: string; responseId: string }
  | { table: 'tool_call_rounds'; turnId: string; toolCallId: string; round: number }
  | { table: 'workflow_code'; id: string }
  | { table: 'tool_effects'; workflowId: string; activityId: string }
  | { table: 'push_configs'; deliveryId: string }
  | { table: 'slack_installations'; team: string }
  | { table: 'slack_events'; team: string; eventId: string }
);

export type SealedTable = SealedValue['table'];

export interface SealedValues {
  tables: readonly SealedTable[];
  /**
   * Values that begin with none of `except`, in the order of their keys, from the one after `after` on. What nobody
   * can use any more, such as attempts whose time is up, is left out.
   */
  page(
    table: SealedTable,
    page: { except: string[]; after: SealedValue | null; limit: number },
  ): Promise<SealedValue[]>;
  /** How many there are, of which how many begin with `prefix`. */
  count(table: SealedTable, prefix: string): Promise<{ all: number; withPrefix: number }>;
  /** Each compare-and-set on what was read, all in one transaction. Nothing else of the rows changes. */
  replace(changes: { value: SealedValue; sealed: string }[]): Promise<boolean[]>;
}
