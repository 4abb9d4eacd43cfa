/**
 * Everything Interlude keeps in its own database, as the rest of the program sees it.
 *
 * Contract for every function: idempotent where it takes a key, one transaction each, times are epoch
 * milliseconds, and "compare-and-set" functions return whether they changed anything. How a question ends is decided
 * here, in the transaction that has locked its row. What would be written to a turn after its end, or by an attempt
 * that a newer one has replaced, is refused: `WriteRefused`.
 */
import type { TurnLog } from './ports/turn-log.ts';
import type { TurnTraces } from './ports/turn-traces.ts';
import type { Turns } from './ports/turns.ts';
import type { Messages, Conversations } from './ports/conversations.ts';
import type { Images } from './ports/images.ts';
import type { IdempotencyKeys } from './ports/idempotency-keys.ts';
import type { Steps } from './ports/steps.ts';
import type { ToolCalls } from './ports/tool-calls.ts';
import type { Elicitations } from './ports/elicitations.ts';
import type { Polls } from './ports/polls.ts';
import type { Oversight } from './ports/oversight.ts';
import type { Outbox } from './ports/outbox.ts';
import type { Connections } from './ports/connections.ts';
import type { OAuthRecords } from './ports/oauth-records.ts';
import type { ConnectAttempts } from './ports/connect-attempts.ts';
import type { AccountPermits } from './ports/account-permits.ts';
import type { EndedSessions } from './ports/ended-sessions.ts';
import type { LearnedEras } from './ports/learned-eras.ts';
import type { McpSessions } from './ports/mcp-sessions.ts';
import type { PushConfigs } from './ports/push-configs.ts';
import type { SlackTables } from './ports/slack.ts';
import type { Approvals } from './ports/approvals.ts';
import type { ToolCatalogue } from './ports/tool-catalogue.ts';
import type { ApiKeys } from './ports/api-keys.ts';
import type { Audit } from './ports/audit.ts';
import type { SealedValues } from './ports/sealed-values.ts';
import type { Figures } from './ports/figures.ts';
import type { ExposedTools } from './ports/exposed-tools.ts';
import type { ToolEffects } from './ports/tool-effects.ts';
import type { Installation } from './ports/installation.ts';
import type { KeyProofs } from './ports/key-proofs.ts';
import type { Versions } from './ports/versions.ts';
import type { WorkflowCode } from './ports/workflow-code.ts';

export interface Storage {
  turnLog: TurnLog;
  turns: Turns;
  turnTraces: TurnTraces;
  messages: Messages;
  images: Images;
  steps: Steps;
  conversations: Conversations;
  toolCalls: ToolCalls;
  idempotencyKeys: IdempotencyKeys;
  elicitations: Elicitations;
  polls: Polls;
  outbox: Outbox;
  connections: Connections;
  oauth: OAuthRecords;
  connectAttempts: ConnectAttempts;
  accountPermits: AccountPermits;
  approvals: Approvals;
  endedSessions: EndedSessions;
  mcpSessions: McpSessions;
  learnedEras: LearnedEras;
  pushConfigs: PushConfigs;
  slack: SlackTables;
  toolCatalogue: ToolCatalogue;
  workflowCode: WorkflowCode;
  versions: Versions;
  exposedTools: ExposedTools;
  toolEffects: ToolEffects;
  apiKeys: ApiKeys;
  audit: Audit;
  oversight: Oversight;
  sealed: SealedValues;
  keyProofs: KeyProofs;
  /** By the database's clock, in epoch milliseconds: what stored times are compared with, as clocks of processes differ. */
  now(): number;
  /** How far this process's clock is ahead of the database's; null where both are the same. */
  clockAheadMs(): number | null;
  installation: Installation;
  figures(): Promise<Figures>;
  /** Resolves when the database answers; rejects with the driver's error. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
