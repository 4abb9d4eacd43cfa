/**
 * What every surface does, in whatever protocol it is asked. A surface calls it with a `Principal` and plain data, gets
 * values, async iterables and `ServiceError`s, and touches neither storage nor Temporal. The only Temporal client of the
 * API is used in this folder. Imports no transport.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { Stores } from '../credentials/stores.ts';
import { answerAddress } from '../elicitation/account-pages.ts';
import type { Status } from '../elicitation/elicitation.ts';
import type { EndedSessions } from '../storage/ports/ended-sessions.ts';
import type { ExposedTool } from '../storage/ports/exposed-tools.ts';
import type { Storage } from '../storage/storage.ts';
import type { LogEntry } from '../turn/event.ts';
import type { TurnRef } from '../turn/turn.ts';
import { createAccounts } from './accounts.ts';
import type { Accounts } from './accounts.ts';
import { createMayChange } from './account-rights.ts';
import type { MayChange } from './account-rights.ts';
import { createAnswerQuestion } from './answer-question.ts';
import type { AnswerQuestion } from './answer-question.ts';
import { createOwnApprovals } from './approvals.ts';
import type { OwnApprovals } from './approvals.ts';
import { cancelTurn } from './cancel-turn.ts';
import type { Cancelled } from './cancel-turn.ts';
import { createCompletePage } from './complete-page.ts';
import type { CompletePage } from './complete-page.ts';
import { createConfirmConnection } from './confirm-connection.ts';
import { createOwnConnections } from './connections.ts';
import type { OwnConnections } from './connections.ts';
import { currentTurn } from './current-turn.ts';
import { refusingWhileDatabaseIsAway } from './database-away.ts';
import { createDeliveries } from './deliveries.ts';
import { followConversation } from './follow-conversation.ts';
import type { FollowedConversation } from './follow-conversation.ts';
import { followTurn, readTurn } from './follow-turn.ts';
import type { FollowTurn } from './follow-turn.ts';
import { askedQuestion, findQuestion, followQuestions, listQuestions, questionsOf } from './questions.ts';
import type { AskedQuestion, FoundQuestion, Question } from './questions.ts';
import { listTurns } from './list-turns.ts';
import type { TurnFilter, TurnPage, TurnPosition } from './list-turns.ts';
import { createOwnMcpSessions } from './mcp-sessions.ts';
import type { OwnMcpSessions } from './mcp-sessions.ts';
import { findTurn } from './own-turn.ts';
import type { FoundTurn, OwnTurn, TurnIds } from './own-turn.ts';
import type { Principal } from './principal.ts';
import { listConversations, readConversation } from './read-conversations.ts';
import type { ConversationPage, ListPosition, ReadConversation, TurnsPage } from './read-conversations.ts';
import { createOwnPushes } from './push-configs.ts';
import type { OwnPushes } from './push-configs.ts';
import { createReadiness, databaseChecks, installationCheck, temporalCheck } from './readiness.ts';
import type { InstallationGate, Readiness } from './readiness.ts';
import { createOAuthClient } from './oauth-client.ts';
import type { OAuthClient } from './oauth-client.ts';
import { createOpenPayloads } from './open-payloads.ts';
import type { OpenPayloads } from './open-payloads.ts';
import { createOperators } from './operators.ts';
import type { Operators } from './operators.ts';
import { createRecordRefusal } from './record-refusal.ts';
import type { RecordRefusal } from './record-refusal.ts';
import { createSealedText } from './sealed-text.ts';
import type { SealedText } from './sealed-text.ts';
import { createAuthenticate } from './authenticate.ts';
import type { Authenticate } from './authenticate.ts';
import { createSlackService } from './slack/slack-service.ts';
import type { SlackService } from './slack/slack-service.ts';
import { startTurn } from './start-turn.ts';
import { createStartWorkflow } from './start-workflow.ts';
import { createTemporalCalls } from './temporal-calls.ts';
import { createTemporalClock } from './temporal-clock.ts';
import type { TurnRequest } from './turn-request.ts';
import { questionAnsweredUnder, turnSoFar } from './turn-so-far.ts';
import type { TurnSoFar } from './turn-so-far.ts';

export type { ExposedTool } from '../storage/ports/exposed-tools.ts';

export interface Service {
  /** By name, in the order of the agents file. */
  agents: Config['agents'];
  /** The turn that was started, or that the same request started before. */
  startTurn(principal: Principal, request: TurnRequest): Promise<OwnTurn>;
  currentTurn(principal: Principal, conversation: string): Promise<OwnTurn | null>;
  /** A turn of the caller's by its id, whatever has become of it; null when there is none. */
  findTurn(principal: Principal, ids: TurnIds): Promise<FoundTurn | null>;
  /** Asks the live turn to stop, and with `turnId` only if it is this one; does not wait until it has. */
  cancelTurn(principal: Principal, of: { conversation: string; turnId?: string }): Promise<Cancelled>;
  /** From the turn's first entry, or from a position, to its end. Across turns: `followConversation`. */
  followTurn(turn: OwnTurn, follow: FollowTurn): AsyncIterable<LogEntry[]>;
  /** The same when it is over. */
  readTurn(turn: OwnTurn, signal: AbortSignal): Promise<LogEntry[]>;
  /** What its log says by now; null when it was withdrawn before it began. */
  turnSoFar(turn: OwnTurn): Promise<TurnSoFar | null>;
  listTurns(
    principal: Principal,
    filter: TurnFilter,
    page: { after: TurnPosition | null; limit: number },
  ): Promise<TurnPage>;
  followConversation(
    principal: Principal,
    conversation: string,
    from: { after: number | 'latest'; signal: AbortSignal },
  ): Promise<FollowedConversation>;
  listConversations(
    principal: Principal,
    page: { after: ListPosition | null; limit: number },
  ): Promise<ConversationPage>;
  readConversation(principal: Principal, conversation: string, page: TurnsPage): Promise<ReadConversation>;
  listQuestions(
    principal: Principal,
    conversation: string,
    which?: { status?: Status | undefined; turnId?: string },
  ): Promise<Question[]>;
  findQuestion(principal: Principal, elicitationId: string): Promise<FoundQuestion | null>;
  /** The same for the page about it, which tells a question of somebody else from none. */
  askedQuestion(principal: Principal, elicitationId: string): Promise<AskedQuestion>;
  /** Where the person who was asked answers any question, signed in. */
  questionPage(elicitationId: string): string;
  /** Those that wait for the caller in all conversations, newest first. */
  questionsOf(principal: Principal): Promise<Question[]>;
  /** First those that are open now, oldest first, possibly none; then each whenever its status changes. */
  followQuestions(principal: Principal, signal: AbortSignal): AsyncGenerator<Question[]>;
  answerQuestion: AnswerQuestion;
  /** Which question of the turn was answered under this idempotency key; null when none was. */
  questionAnsweredUnder(turn: OwnTurn, idempotencyKey: string): Promise<string | null>;
  completePage: CompletePage;
  connections: OwnConnections;
  approvals: OwnApprovals;
  mayChange: MayChange;
  accounts: Accounts;
  oauthClient: OAuthClient;
  operators: Operators;
  /** What was sealed for histories of Temporal; see temporal/sealed-payloads.ts. */
  openPayloads: OpenPayloads;
  recordRefusal: RecordRefusal;
  sealedText: SealedText;
  endedSessions: EndedSessions;
  mcpSessions: OwnMcpSessions;
  /** Where callers want to be told of their turns. */
  pushes: OwnPushes;
  /** Absent: not configured. */
  slack: SlackService | undefined;
  /**
   * Starts whatever brings the turn to somebody outside, where it does not run: it may have been lost with the turn, and they
   * have not heard of its end. For the reconciler, which has ended the turn.
   */
  resumeDeliveries(turn: TurnRef): Promise<void>;
  /** Tools in TypeScript that clients may call themselves, by name. */
  exposedTools(): Promise<ExposedTool[]>;
  authenticate: Authenticate;
  /** Absent: whether database and Temporal belong together is not asked. */
  installation: InstallationGate | undefined;
  /** Whether this process can do its work. Answers are accepted without Temporal and without workers. */
  readiness(): Promise<Readiness>;
  /** By the database's clock, in epoch milliseconds. */
  now(): number;
  clocks(): ClockDifferences;
  /** Begins what the service does on its own. */
  start(): void;
  /** Resolves when nothing is under way any more. The Temporal client may be closed then. */
  close(): Promise<void>;
}

/** How far this process's clock is ahead of others, in milliseconds; null: not known yet, or the same clock. */
export interface ClockDifferences {
  databaseMs: number | null;
  temporalMs: number | null;
}

export interface ServiceParts {
  config: Config;
  storage: Storage;
  client: Client;
  keys: KeyRing;
  stores: Stores;
  installation?: InstallationGate;
  /**
   * Whether turns of this version, and of no other, run over the client's connection: they start eagerly, with a first task
   * that comes with Temporal's answer. The SDK would hand that task to any of the connection's workers.
   */
  startsHere?: (buildId: string) => boolean;
  logger: Logger;
}

export function createService(given: ServiceParts): Service {
  const { config, storage, client, keys, stores, installation, startsHere, logger } = given;
  const calls = createTemporalCalls({ client, config, storage, logger });
  const clock = createTemporalClock(calls, logger);
  const deliveries = createDeliveries({ client, calls, storage, config, logger });
  const startWorkflow = createStartWorkflow({ client, calls, clock, storage, config, startsHere, logger });
  const mayChange = createMayChange(storage);
  const confirmConnection = createConfirmConnection(storage);
  const recordRefusal = createRecordRefusal(storage.audit);
  const parts = { config, storage };
  const operators = createOperators({ storage, config, keys, logger });
  const connections = createOwnConnections({ config, storage, stores, mayChange, logger });
  const slack =
    config.slack &&
    createSlackService({
      storage,
      keys,
      config,
      slack: config.slack,
      cancelTurn: (principal, of) => cancelTurn({ storage, logger }, principal, of),
      deliver: deliveries.slack.start,
      logger,
    });
  return refusingWhileDatabaseIsAway<Service>({
    agents: config.agents,
    startTurn: (principal, request) => startTurn({ ...parts, startWorkflow }, principal, request),
    currentTurn: (principal, conversation) => currentTurn(storage, principal, conversation),
    findTurn: (principal, ids) => findTurn(storage, principal, ids),
    cancelTurn: (principal, of) => cancelTurn({ storage, logger }, principal, of),
    followTurn: (turn, follow) => followTurn(storage, turn, follow),
    readTurn: (turn, signal) => readTurn(storage, turn, signal),
    turnSoFar: (turn) => turnSoFar(storage, turn),
    listTurns: (principal, filter, page) => listTurns(storage, principal, filter, page),
    followConversation: (principal, conversation, from) =>
      followConversation(storage, principal, conversation, from),
    listConversations: (principal, page) => listConversations(parts, principal, page),
    readConversation: (principal, conversation, page) =>
      readConversation(parts, principal, conversation, page),
    listQuestions: (principal, conversation, which) => listQuestions(storage, principal, conversation, which),
    findQuestion: (principal, elicitationId) => findQuestion(parts, principal, elicitationId),
    questionPage: (elicitationId) => answerAddress(config.http.publicUrl, elicitationId),
    askedQuestion: (principal, elicitationId) => askedQuestion(storage, principal, elicitationId),
    questionsOf: (principal) => questionsOf(storage, principal),
    followQuestions: (principal, signal) => followQuestions(storage, principal, signal),
    answerQuestion: createAnswerQuestion({ storage, config, keys }),
    questionAnsweredUnder: (turn, key) => questionAnsweredUnder(storage, turn, key),
    completePage: createCompletePage(parts),
    connections,
    approvals: createOwnApprovals({ config, storage }),
    mayChange,
    accounts: createAccounts({ config, storage, stores, mayChange, confirmConnection, logger }),
    oauthClient: createOAuthClient(config),
    operators,
    openPayloads: createOpenPayloads({ keys, operators }),
    recordRefusal,
    sealedText: createSealedText(keys),
    endedSessions: storage.endedSessions,
    mcpSessions: createOwnMcpSessions({ mcpSessions: storage.mcpSessions, recordRefusal }),
    pushes: createOwnPushes({ storage, keys, config, deliveries: deliveries.push }),
    slack,
    resumeDeliveries: deliveries.resume,
    async exposedTools() {
      const tools = await storage.exposedTools.list();
      // Of agents that were in a file once, nothing can be called any more.
      return tools.filter(({ agent }) => config.agents.has(agent));
    },
    authenticate: createAuthenticate({ auth: config.auth, apiKeys: storage.apiKeys, recordRefusal }),
    installation,
    now: storage.now,
    clocks: () => ({ databaseMs: storage.clockAheadMs(), temporalMs: clock.aheadMs() }),
    readiness: createReadiness([
      ...databaseChecks({ storage, keys }),
      installationCheck(installation),
      { ...temporalCheck(calls.readiness.namespace), isWarning: true },
      // While Temporal itself does not answer, nothing is known about workers.
      { name: 'workers', check: calls.readiness.workers, otherwise: null, isWarning: true },
    ]),
    start: () => slack?.start(),
    async close() {
      await slack?.close();
      await calls.idle();
    },
  });
}
