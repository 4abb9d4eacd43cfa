/**
 * Everything Interlude keeps in its own database, as the rest of the program sees it.
 *
 * Contract for every function: idempotent where it takes a key, one transaction each, times are epoch
 * milliseconds, and "compare-and-set" functions return whether they changed anything. Nothing here decides;
 * rows are projections of what workflows decided. What would be written to a turn after its end, or by an attempt
 * that a newer one has replaced, is refused: `WriteRefused`.
 */
import type {
  Action,
  ClosedBecause,
  ConnectionReason,
  ElicitationRequest,
  Outcome,
  Settlement,
  Status,
} from '../elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../turn/event.ts';
import type {
  ConversationRef,
  Turn,
  TurnEndStatus,
  TurnOwner,
  TurnRef,
  TurnStatus,
  Usage,
} from '../turn/turn.ts';

export interface Storage {
  turnLog: TurnLog;
  turns: Turns;
  messages: Messages;
  steps: Steps;
  conversations: Conversations;
  toolCalls: ToolCalls;
  idempotencyKeys: IdempotencyKeys;
  elicitations: Elicitations;
  looks: Looks;
  connections: Connections;
  oauth: OAuthRecords;
  connectAttempts: ConnectAttempts;
  accountPermits: AccountPermits;
  toolCatalogue: ToolCatalogue;
  apiKeys: ApiKeys;
  audit: Audit;
  sealed: SealedValues;
  keyProofs: KeyProofs;
  /** Resolves when the database answers; rejects with the driver's error. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/* ---- the turn log ------------------------------------------------------------------------------------ */

export interface NewEvent {
  /** Unique within the turn. Appending a key again is a no-op, which makes retried activities harmless. */
  key: string;
  event: TurnEvent;
}

export interface TurnLog {
  /**
   * Appends in order, in one transaction, and wakes followers after commit. Sequence numbers are given without gaps. A
   * `reset-step` removes, in the same transaction, what stands before it under the keys of its step.
   */
  append(turn: TurnRef, events: NewEvent[]): Promise<void>;
  /**
   * Entries with `seq > after`, oldest first. A cursor inside a merged delta gets the rest of that delta
   * (same `seq` as the merged row), no more and no less.
   */
  read(conversation: ConversationRef, after: number, limit?: number): Promise<LogEntry[]>;
  /**
   * Batches of entries as they come, never empty, never missing or repeating one. Ends only when `signal` aborts.
   * Woken by an in-process signal or LISTEN/NOTIFY, with a slow poll as safety net.
   */
  follow(conversation: ConversationRef, after: number, signal: AbortSignal): AsyncIterable<LogEntry[]>;
  /** The sequence number of the newest entry, 0 when there is none: where to follow from to see only what is new. */
  latest(conversation: ConversationRef): Promise<number>;
  /** The sequence number just before the turn's first event, or null when it has none yet. */
  startOf(turn: TurnRef): Promise<number | null>;
  /** Merges each run of deltas of one part into its last row, remembering where the parts ended. Once is enough. */
  merge(turn: TurnRef): Promise<void>;
  /**
   * As `merge`, one turn after the other, beside whatever else goes on; `close` waits for it. A merge that fails, or is
   * lost with its process, is left to whoever claims the turn as due.
   */
  mergeLater(turn: TurnRef): void;
}

/* ---- turns and messages ------------------------------------------------------------------------------ */

export interface TurnRow extends Turn {
  status: TurnStatus;
  /** The id the client gave its message; the same id twice joins the first turn. */
  clientMessageId: string;
  createdAt: number;
  /** Since when it has been stopping what it does, to end. */
  endingAt: number | null;
  endedAt: number | null;
  usage: Usage | null;
}

export interface ConversationRow extends ConversationRef {
  user: string | null;
  agent: string;
  createdAt: number;
  /** When something was last written to it. */
  updatedAt: number;
}

/** A message as the model is given it: AI SDK `ModelMessage` content. */
export interface StoredMessage {
  /** Unique in the conversation; storing an id again is a no-op. */
  id: string;
  turnId: string;
  role: 'user' | 'assistant' | 'tool';
  content: unknown;
}

export interface NewTurn extends Turn {
  clientMessageId: string;
  /** What the turn starts with: normally one user message; the whole history for a conversation that is new. */
  messages: Omit<StoredMessage, 'turnId'>[];
}

/** What is said at the end of a turn, in this order. */
export interface Ending {
  /** What was decided about questions and may not be written yet. */
  outcomes?: Settlement[];
  /** What the model is told of a call that has no result, those of delegated agents included. */
  resultOf?(call: ToolCallRow): CallResult;
  events?: NewEvent[];
}

export interface Ended {
  startedAt: number;
  /** That the end has closed. */
  questions: ElicitationRow[];
}

/** `dueAt`: when it is looked at again, unless something happens to it before. */
export interface DueTurn extends TurnRef {
  status: TurnStatus;
  dueAt: number;
}

export interface Turns {
  conversation(ref: ConversationRef): Promise<ConversationRow | null>;
  /**
   * Writes the turn as `starting`, with its messages set aside. The conversation row is made if it is new.
   * A conversation of another owner in the same tenant is refused. `known`: another turn was prepared for the same
   * client message, and nothing is written. Nothing is visible to readers yet.
   */
  prepare(turn: NewTurn): Promise<'prepared' | 'known' | 'foreign-conversation'>;
  /**
   * `starting` → `running`: the messages enter the conversation and `turn-started` enters the log, in one
   * transaction. Again on a running turn: true, nothing changes. False when it was withdrawn. Another turn that is
   * still running has lost its workflow, which could not end it: it is `cancelled`.
   */
  begin(turn: TurnRef): Promise<boolean>;
  /** `starting` → gone. False when the workflow had already begun it: then the turn is running. */
  withdraw(turn: TurnRef): Promise<boolean>;
  /** Tells those who work for the turn, in whatever process, that it is ending; its end is still to be written. */
  announceEnd(turn: TurnRef): Promise<void>;
  /** True as soon as the turn is ending or has ended; false when `signal` aborts first. Never rejects. */
  whenEnding(turn: TurnRef, signal: AbortSignal): Promise<boolean>;
  /**
   * Writes what the turn leaves undone, closes open questions as `cancel`, and writes the terminal event and status, in
   * one transaction; the first end wins. Answers with what has ended, or null when there was nothing to end.
   */
  end(turn: TurnRef, status: TurnEndStatus, ending?: Ending): Promise<Ended | null>;
  /**
   * Turns to look after, longest due first: not ended, and so perhaps without a workflow by now, or ended and perhaps
   * not merged. Nobody else gets them for `againMs`; merging a turn takes it off the list.
   */
  claimDue(limit: number, againMs: number): Promise<DueTurn[]>;
  get(turn: TurnRef): Promise<TurnRow | null>;
  /** The running turn of a conversation, or null when it is idle. */
  live(ref: ConversationRef): Promise<TurnRow | null>;
  /** The turn that a client's message id started in this conversation, whatever became of it. */
  byClientMessage(ref: ConversationRef, clientMessageId: string): Promise<TurnRow | null>;
  /** Content of the message that the turn began with, also before it has begun; null when it was withdrawn. */
  given(turn: TurnRef & Pick<TurnRow, 'clientMessageId'>): Promise<unknown>;
}

export interface Messages {
  /**
   * The conversation's messages in order, of begun turns only. Of a turn that is a delegation: the delegated agent's
   * own messages, which are not among the conversation's.
   */
  list(ref: ConversationRef | TurnRef): Promise<StoredMessage[]>;
}

/** A conversation, and which turn runs in it. */
export interface ListedConversation extends ConversationRow {
  liveTurn: string | null;
}

/** A turn that has begun, as it can be read again. */
export interface ToldTurn {
  turnId: string;
  /** Of its `turn-started`: tells turns of a conversation in their order. */
  seq: number;
  /** What clients sent to begin it: its user message, after the history of a conversation that was new. */
  given: StoredMessage[];
  /** All of its log, once it is over; null while it runs. */
  log: LogEntry[] | null;
}

export interface Conversations {
  /** Of this owner, last changed first. `after` is the last one of the page before. */
  list(
    owner: TurnOwner,
    page: { after: Pick<ConversationRow, 'updatedAt' | 'conversation'> | null; limit: number },
  ): Promise<ListedConversation[]>;
  /** The newest turns of those that began before the sequence number `before`, oldest first. */
  turns(ref: ConversationRef, page: { before: number | null; limit: number }): Promise<ToldTurn[]>;
  /** Turns that were accepted and have not begun, oldest first. Which of them will is for Temporal to say. */
  starting(ref: ConversationRef): Promise<Pick<ToldTurn, 'turnId' | 'given'>[]>;
}

/** What an `Idempotency-Key` was used for: always the same message in the same conversation. */
export interface KeyUse extends TurnOwner {
  key: string;
  /** Of the request, to notice that the key came with another one. */
  fingerprint: string;
  conversation: string;
  clientMessageId: string;
}

export interface IdempotencyKeys {
  /**
   * The first use of a key wins; answers with that one. An earlier use counts for `withinMs` (a day at most, and unless
   * given); with `isNew` none does.
   */
  claim(use: KeyUse, options?: { isNew?: boolean; withinMs?: number }): Promise<KeyUse>;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

/** One attempt at a model call. Steps count from 0 in each agent's work, attempts from 1. */
export interface StepAttempt {
  step: number;
  attempt: number;
}

/** `tool-calls`: the model is to be called again, even if no call is left to run because it got all of them wrong. */
export type StepFinish = 'stop' | 'tool-calls' | 'length' | 'refused';

export type StepStart =
  /** `isRepeat`: an older attempt has left words in the log. */
  | { kind: 'begun'; isRepeat: boolean }
  /** An older attempt has finished it: what it kept counts. */
  | { kind: 'kept'; finish: StepFinish };

export interface Steps {
  /** From now on the step is this attempt's: whatever an older one still writes is refused. */
  begin(turn: TurnRef, of: StepAttempt): Promise<StepStart>;
  /** As `TurnLog.append`, for what is said in a step. */
  append(turn: TurnRef, of: StepAttempt, events: NewEvent[]): Promise<void>;
  /**
   * Everything that a step leaves behind, in one transaction. Null; or how the step ended when it is kept already, and
   * nothing is written.
   */
  keep(
    turn: TurnRef,
    of: StepAttempt,
    kept: {
      finish: StepFinish;
      usage: Usage;
      messages: Omit<StoredMessage, 'turnId'>[];
      events: NewEvent[];
      calls: Omit<ToolCallRow, 'state'>[];
    },
  ): Promise<StepFinish | null>;
}

/* ---- tool calls -------------------------------------------------------------------------------------- */

export interface ToolCallRow {
  toolCallId: string;
  toolName: string;
  input: unknown;
  /**
   * `requested` by the model → `started`: a request may have left → `finished`: the model has its result.
   * `paused` is between two rounds: the server has asked, and nothing is under way until people have answered.
   */
  state: 'requested' | 'started' | 'paused' | 'finished';
}

/** What the server asked in the middle of a call, and how the call goes on; sealed by the caller. Numbered from 1. */
export interface ToolCallRound {
  round: number;
  sealed: string;
}

/** How a call ends for the model, and for those who read along. */
export interface CallResult {
  message: Omit<StoredMessage, 'turnId'>;
  event: NewEvent;
}

/** One of the attempts at making a call. What an older one writes is refused once a newer one has written. */
export interface CallAttempt {
  /** Counts the activities that made the call so far, from 0: each has attempts of its own, from 1. */
  execution: number;
  attempt: number;
}

/** Keyed by (turn, toolCallId), delegations included. Calls come into being with the step that asks for them. */
export interface ToolCalls {
  get(turn: TurnRef, toolCallId: string): Promise<ToolCallRow | null>;
  /** As `get`, for the attempt that goes on with it from here. */
  take(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<ToolCallRow | null>;
  /** Compare-and-set `requested` or `paused` → `started`. False: somebody already started it. */
  start(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<boolean>;
  /** `started` → what it was before, for a request that certainly had no effect (refused with 401, connection refused). */
  release(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<void>;
  /**
   * Adds a round, in one transaction with `started` → `state`: `paused`, or still `started` while a connection is held.
   * Keeping a round again is a no-op; false: then another process was first, and its round is the one that counts.
   */
  keepRound(
    turn: TurnRef,
    toolCallId: string,
    round: ToolCallRound,
    state: 'paused' | 'started',
    by: CallAttempt,
  ): Promise<boolean>;
  /**
   * How far a call has come, with the event for the log, in one transaction. False, and nothing is written, when it
   * had come as far already, or is over, or is another attempt's.
   */
  noteProgress(
    turn: TurnRef,
    toolCallId: string,
    progress: number,
    event: NewEvent,
    by: CallAttempt,
  ): Promise<boolean>;
  /** In their order. Gone once the call is finished. */
  rounds(turn: TurnRef, toolCallId: string): Promise<ToolCallRound[]>;
  /**
   * → `finished`, with the message for the calling model and the event for the log, in one transaction. First finish
   * wins. Without `by` it is the workflow's word, which needs no attempt to be the newest.
   */
  finish(
    turn: TurnRef,
    toolCallId: string,
    /** `notice`: to be said before the event. */
    result: CallResult & { notice?: NewEvent },
    by?: CallAttempt,
  ): Promise<boolean>;
  /** The turn's calls that are not finished yet, those of delegated agents included. */
  unfinished(turn: TurnRef): Promise<ToolCallRow[]>;
}

/* ---- elicitations ------------------------------------------------------------------------------------ */

export interface ElicitationRow extends TurnRef {
  id: string;
  /** The workflow that owns the question; answers are signalled to it. */
  workflowId: string;
  agent: string;
  /** The only user who may answer. */
  user: string;
  request: ElicitationRequest;
  /** For a connection question: its server and the connection version that did not work. */
  server: string | null;
  seenVersion: number | null;
  status: Status;
  /** The answer that won, when one did. */
  responseId: string | null;
  /** Random per question; mixed into response ids so that history cannot be guessed back to answers. */
  salt: string;
  createdAt: number;
  deadline: number;
  settledAt: number | null;
  because: ClosedBecause | null;
}

export interface Answer {
  responseId: string;
  action: Action;
  /** Sealed by the caller; opaque here. */
  sealedContent: string | null;
  receivedAt: number;
}

export interface Elicitations {
  /**
   * Row and event in one transaction; opening an id again is a no-op and answers `opened`.
   * `too-many-open` when the user already has `maxOpen` pending questions; then nothing is written. `look`: what is
   * looked at while it is open; questions whose look has the same id share it.
   */
  open(
    row: Omit<ElicitationRow, 'status' | 'responseId' | 'createdAt' | 'settledAt' | 'because'>,
    maxOpen: number,
    look?: NewLook,
  ): Promise<'opened' | 'too-many-open'>;
  /** `pending` → outcome, row and event in one transaction; the first settlement wins. */
  settle(id: string, outcome: Outcome, responseId: string | null, because?: ClosedBecause): Promise<boolean>;
  /** The same for some questions of one turn, in one transaction. Answers with those that it settled. */
  settleAll(settlements: Settlement[]): Promise<ElicitationRow[]>;
  get(id: string): Promise<ElicitationRow | null>;
  /** The question once it is settled, whoever settles it; null when `signal` aborts first. */
  untilSettled(
    question: ConversationRef & { id: string },
    signal: AbortSignal,
  ): Promise<ElicitationRow | null>;
  ofConversation(ref: ConversationRef, status?: Status): Promise<ElicitationRow[]>;
  /** Pending connection questions of one user for one server, in all conversations. */
  pendingFor(key: ConnectionKey): Promise<ElicitationRow[]>;
  /**
   * Pending connection questions whose account has meanwhile been connected: their signal may have been lost.
   * Only before their deadline; after it their workflow needs nobody to tell it.
   */
  connectedButPending(): Promise<(ElicitationRow & { version: number })[]>;
  /** Remembers an answer before it is signalled. False when this response id was already there. */
  storeAnswer(elicitationId: string, answer: Answer): Promise<boolean>;
  answer(elicitationId: string, responseId: string): Promise<Answer | null>;
}

/** What is looked at while a question is open: whoever could settle it may not tell us. */
export type LookSubject =
  /** The stream of a call that was left open, or the session in which its server says that a page is done. */
  | { kind: 'stream' | 'pages'; turn: Turn; toolCallId: string; server: string; round: number }
  /** An account that is kept elsewhere. `seenVersion`: the connection version that did not do. */
  | { kind: 'connection'; turn: Turn; server: string; seenVersion: number };

export interface NewLook {
  id: string;
  subject: LookSubject;
  /** From now to the first one. */
  firstMs: number;
}

export interface Look extends Pick<NewLook, 'id' | 'subject'> {
  /** To be told of news. */
  workflowId: string;
  /** How many have been made, this one included. */
  count: number;
  /** Those that are still pending; at least one. */
  questions: string[];
}

export interface Looks {
  /**
   * Those that are due, longest first, but at most `perServer` of one server, and none of `except`. Nobody else gets
   * them for `leaseMs`; then they are due again.
   */
  claim(
    which: { kinds: LookSubject['kind'][]; limit: number; perServer: number; except: string[] },
    leaseMs: number,
  ): Promise<Look[]>;
  /** Keeps claims for so long, and says which of them still have a pending question. */
  hold(ids: string[], ms: number): Promise<Set<string>>;
  /** Ends a claim: due again after so long. */
  again(id: string, afterMs: number): Promise<void>;
  /** There is nothing to look at any more. */
  drop(id: string): Promise<void>;
  /** Whether one has been due for so long. */
  isDue(kinds: LookSubject['kind'][], sinceMs: number): Promise<boolean>;
}

/* ---- connections ------------------------------------------------------------------------------------- */

/** Whose account at which server. `user` is null for a credential shared by the whole tenant (scope `project`). */
export interface ConnectionKey {
  tenant: string;
  server: string;
  user: string | null;
}

export interface ConnectionRow extends ConnectionKey {
  store: string;
  /** Counts successful connects, from 1. A question remembers the version that failed it. */
  version: number;
  status: 'active' | 'broken';
  brokenReason: ConnectionReason | null;
  /** As whom, for people to read ("alice@example.com"); null when the provider does not say. */
  account: string | null;
  scopes: string[];
  createdAt: number;
  updatedAt: number;
  /** The store's secret material, sealed (see credentials/sealing/key-ring.ts), and when it stops being fresh. */
  sealed: string;
  freshUntil: number | null;
  /** Since when its store has been unable to say whether it still works; null while it can. */
  troubledAt: number | null;
}

export interface Connections {
  get(key: ConnectionKey): Promise<ConnectionRow | null>;
  list(owner: TurnOwner): Promise<ConnectionRow[]>;
  /** Creates or replaces the connection as `active` with the next version, and returns that version. */
  establish(
    key: ConnectionKey,
    connection: Pick<ConnectionRow, 'store' | 'account' | 'scopes' | 'sealed' | 'freshUntil'>,
  ): Promise<number>;
  /** Refreshed secrets of the same version. Compare-and-set on `version` and the previous `sealed`. */
  refresh(
    row: ConnectionRow,
    next: Pick<ConnectionRow, 'sealed' | 'freshUntil' | 'scopes'>,
  ): Promise<boolean>;
  /** `active` → `broken`, only if `version` is still current. */
  markBroken(key: ConnectionKey, version: number, reason: ConnectionReason): Promise<boolean>;
  /** Remembers since when there is trouble, or with null that it is over, only if `version` is still current. */
  markTroubled(key: ConnectionKey, version: number, since: number | null): Promise<void>;
  /** Forgets the account and its secret, and answers with what there was; null when there was no connection. */
  remove(key: ConnectionKey): Promise<ConnectionRow | null>;
  /** Of the newest connection there was, also when it is removed by now: the next one has a higher version. 0: never any. */
  lastVersion(key: ConnectionKey): Promise<number>;
  /** Runs `work` while no other process holds the lock of this connection. Waits at most `waitMs`, then rejects. */
  withLock<T>(key: ConnectionKey, waitMs: number, work: () => Promise<T>): Promise<T>;
}

/** Short-lived and per-server records of the OAuth flows. Payloads are sealed by the caller. */
export interface OAuthRecords {
  saveAttempt(attempt: OAuthAttempt): Promise<void>;
  /** Single use: returns the attempt and forgets it, or null when unknown, used or expired. */
  takeAttempt(stateHash: string, now: number): Promise<OAuthAttempt | null>;
  /** What is known about a server or authorization server; `key` names it. */
  remember(key: string, sealed: string): Promise<void>;
  recall(key: string): Promise<{ sealed: string; updatedAt: number } | null>;
  forget(key: string): Promise<void>;
}

export interface OAuthAttempt {
  /** SHA-256 of the state parameter. */
  stateHash: string;
  /** The question it is to answer; null when the user connects of their own accord. */
  elicitationId: string | null;
  /** SHA-256 of the browser session the attempt belongs to. */
  sessionHash: string;
  sealed: string;
  expiresAt: number;
}

/**
 * Somebody on the way to an account that is kept elsewhere. Whatever comes of it is recognised by the id, for days: who
 * closes the window too early, or comes back too late, has connected an account all the same.
 */
export interface ConnectAttempt extends ConnectionKey {
  /** Random; says nothing about anybody. */
  id: string;
  /** The question it is to answer; null when the user connects of their own accord. */
  elicitationId: string | null;
  /** Who began it: for an account that is shared, that is not `user`. */
  actor: string;
  createdAt: number;
  expiresAt: number;
}

export interface ConnectAttempts {
  save(attempt: ConnectAttempt): Promise<void>;
  /** Null when unknown, expired or dropped. */
  get(id: string): Promise<ConnectAttempt | null>;
  /** Those that may still bring an account, newest first. */
  openOf(key: ConnectionKey): Promise<ConnectAttempt[]>;
  /** Whether this person has begun something within the last twelve hours that may still bring an account. */
  isUnderway(by: { tenant: string; actor: string }): Promise<boolean>;
  /** Whatever still comes of them is not wanted any more. */
  dropOf(key: ConnectionKey): Promise<void>;
}

/** Who, besides operators, may connect or end the shared account of a server: given on the command line, for a while. */
export interface AccountPermits {
  /** Again: until the new time. */
  give(permit: AccountPermit & { expiresAt: number }): Promise<void>;
  holds(permit: AccountPermit): Promise<boolean>;
}

export interface AccountPermit {
  tenant: string;
  server: string;
  user: string;
}

/* ---- catalogue, keys, audit -------------------------------------------------------------------------- */

/** A tool as its server listed it (MCP `Tool`, JSON). */
export interface CatalogueTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean; idempotentHint?: boolean; destructiveHint?: boolean };
}

/** What a server offers, as somebody was told. */
export interface ToolList {
  tools: CatalogueTool[];
  /** `user`: the server wants nobody else to be shown it. */
  audience: 'tenant' | 'user';
  /** How long the server says it stays as it is, in milliseconds; null when it does not say. */
  freshMs: number | null;
}

export interface ToolCatalogue {
  /**
   * The own list of whoever calls with this account; else, for they know the server by it, the newest of those in the
   * tenant that may be shown to everybody.
   */
  get(key: ConnectionKey): Promise<(ToolList & { isOwn: boolean; updatedAt: number }) | null>;
  put(key: ConnectionKey, list: ToolList): Promise<void>;
}

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

export interface AuditEntry {
  at: number;
  tenant: string;
  /** Empty for what no question is about. */
  elicitationId: string;
  /** Who acted: a user id, or null when unknown. */
  actor: string | null;
  action: 'answered' | 'refused' | 'connected' | 'disconnected';
  /** Low-cardinality detail, never an answer's content. */
  detail: string;
  address: string | null;
}

export interface Audit {
  record(entry: AuditEntry): Promise<void>;
  ofElicitation(elicitationId: string): Promise<AuditEntry[]>;
}

/* ---- everything sealed, wherever it is ------------------------------------------------------------------ */

/** One value that its writer sealed, and where it is kept. */
export type SealedValue = { sealed: string } & (
  | { table: 'connections'; key: ConnectionKey; store: string }
  | { table: 'oauth_records'; key: string }
  | { table: 'oauth_attempts'; stateHash: string }
  | { table: 'elicitation_answers'; elicitationId: string; responseId: string }
  | { table: 'tool_call_rounds'; turnId: string; toolCallId: string; round: number }
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

/** By which a process knows whether its keys are those of this database: one for every key that seals or has sealed. */
export interface KeyProofs {
  all(): Promise<KeyProof[]>;
  /** False, and nothing changes, when there is one for this key. */
  add(proof: KeyProof): Promise<boolean>;
  /** Nothing changes when the proof is another one by now. */
  remove(proof: KeyProof): Promise<void>;
}

export interface KeyProof {
  keyId: string;
  /** A text that this key has encrypted. */
  proof: string;
}
