/**
 * What every surface can do, in no protocol's terms. A surface calls it with a `Principal` and plain data, and gets values, async
 * iterables and `ServiceError`s. Surfaces use neither storage nor Temporal: the API's only Temporal client is in this folder.
 * Imports no transport.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { Stores } from '../credentials/stores.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import type { ExposedTool } from '../storage/tables/tool-catalogue.ts';
import type { Storage } from '../storage/storage.ts';
import { createAccounts, createMayChange, createOAuthClient } from './accounts.ts';
import { createConfirmConnection } from './confirm-connection.ts';
import { answerQuestion } from './answer-question.ts';
import { createOwnApprovals } from './approvals.ts';
import { cancelTurn } from './end-turn.ts';
import { completePage } from './complete-page.ts';
import { createOwnConnections } from './connections.ts';
import { currentTurn, listTurns, findTurn } from './own-turn.ts';
import { refusingWhileDatabaseIsAway } from './database-away.ts';
import { createDeliveries } from './deliveries.ts';
import { followConversation, listConversations, readConversation } from './conversations.ts';
import { eraseConversation } from './erase.ts';
import { exportConversation } from './export.ts';
import { followTurn, readTurn, questionAnsweredUnder, turnSoFar } from './follow-turn.ts';
import {
  answeredBy,
  askedQuestion,
  findQuestion,
  followQuestions,
  listQuestions,
  questionsOf,
} from './questions.ts';
import { createOwnMcpSessions } from './mcp-sessions.ts';
import { createOwnPushes } from './push-configs.ts';
import { createReadiness, databaseChecks, installationCheck, temporalCheck } from './readiness.ts';
import type { InstallationGate } from './readiness.ts';
import { createLimits } from './limits.ts';
import { createOpenPayloads } from './open-payloads.ts';
import { createOperators } from './operators.ts';
import { watchOverload } from './overload.ts';
import { createRecordRefusal, createAuthenticate } from './authenticate.ts';
import { createSealedText } from './sealed-text.ts';
import { createSlackService } from './slack/slack-service.ts';
import { claimKey, startTurn } from './start-turn.ts';
import { createStartWorkflow } from './start-workflow.ts';
import { createTemporalCalls, createTemporalClock } from './temporal-calls.ts';

export type { ExposedTool } from '../storage/tables/tool-catalogue.ts';

export interface ServiceParts {
  config: Config;
  storage: Storage;
  client: Client;
  keys: KeyRing;
  stores: Stores;
  /** Absent: this process does not check whether database and Temporal belong together. */
  installation?: InstallationGate;
  /**
   * Whether the client's connection runs turns of this version only. They start eagerly then: Temporal answers with their first
   * task, which the SDK hands to any worker of the connection.
   */
  startsHere?: (buildId: string) => boolean;
  logger: Logger;
}

export type Service = ReturnType<typeof createService>;

export function createService(given: ServiceParts) {
  const { config, storage, client, keys, stores, installation, startsHere, logger } = given;
  const calls = createTemporalCalls({ client, config, storage, logger });
  const clock = createTemporalClock(calls, logger);
  const deliveries = createDeliveries({ client, calls, storage, config, logger });
  const startWorkflow = createStartWorkflow({ client, calls, clock, storage, config, startsHere, logger });
  const mayChange = createMayChange(storage);
  const confirmConnection = createConfirmConnection(storage);
  const recordRefusal = createRecordRefusal(storage.audit);
  const operators = createOperators({ storage, config, keys, logger });
  const limits = createLimits({ counts: storage.counts, limits: config.limits });
  const overload = watchOverload({ storage, most: config.limits.queuedTurns, logger });
  const parts = { config, storage, keys, startWorkflow, limits, overload, logger };
  const useCases = {
    ...withFirst(parts, {
      startTurn,
      cancelTurn,
      listConversations,
      readConversation,
      exportConversation,
      eraseConversation,
      findQuestion,
      answerQuestion,
      completePage,
    }),
    ...withFirst(storage, {
      claimKey,
      currentTurn,
      findTurn,
      followTurn,
      readTurn,
      turnSoFar,
      listTurns,
      followConversation,
      listQuestions,
      askedQuestion,
      questionsOf,
      answeredBy,
      followQuestions,
      questionAnsweredUnder,
    }),
  };
  const slack =
    config.slack &&
    createSlackService({
      storage,
      keys,
      config,
      slack: config.slack,
      cancelTurn: useCases.cancelTurn,
      deliver: deliveries.startSlack,
      logger,
    });
  return refusingWhileDatabaseIsAway({
    ...useCases,
    /** By name, in the order of the agents file. */
    agents: config.agents,
    /** Where the person who was asked answers the question, signed in. */
    questionPage: (elicitationId: string): string => answerAddress(config.http.publicUrl, elicitationId),
    connections: createOwnConnections({ config, storage, stores, mayChange, logger }),
    approvals: createOwnApprovals({ config, storage }),
    mayChange,
    accounts: createAccounts({ config, storage, stores, mayChange, confirmConnection, logger }),
    oauthClient: createOAuthClient(config),
    operators,
    /** Opens what was sealed for histories of Temporal; see temporal/sealed-payloads.ts. */
    openPayloads: createOpenPayloads({ keys, operators }),
    recordRefusal,
    limits,
    sealedText: createSealedText(keys),
    endedSessions: storage.endedSessions,
    mcpSessions: createOwnMcpSessions({ mcpSessions: storage.mcpSessions, recordRefusal }),
    /** Where callers want to be notified of their turns. */
    pushes: createOwnPushes({ storage, keys, config, startPush: deliveries.startPush }),
    /** Absent: not configured. */
    slack,
    /** For the reconciler, after it has ended a turn: its deliveries may have been lost with it, and have to report the end. */
    resumeDeliveries: deliveries.resume,
    /** Tools in TypeScript that clients may call themselves, by name. */
    async exposedTools(): Promise<ExposedTool[]> {
      const tools = await storage.exposedTools.list();
      // The list may have tools of agents that have left the agents file.
      return tools.filter(({ agent }) => config.agents.has(agent));
    },
    authenticate: createAuthenticate({ auth: config.auth, apiKeys: storage.apiKeys, recordRefusal }),
    installation,
    /** By the database's clock, in epoch milliseconds. */
    now: storage.now,
    /** How far this process's clock is ahead of others, in milliseconds; null: not known yet, or the same clock. */
    clocks: () => ({ databaseMs: storage.clockAheadMs(), temporalMs: clock.aheadMs() }),
    /** Whether this process can do its work. Answers are accepted without Temporal and without workers. */
    readiness: createReadiness([
      ...databaseChecks({ storage, keys }),
      installationCheck(installation),
      { ...temporalCheck(calls.readiness.namespace), isWarning: true },
      // While Temporal itself does not answer, nothing is known about workers.
      { name: 'workers', check: calls.readiness.workers, otherwise: null, isWarning: true },
    ]),
    /** Begins the service's background work. */
    start: () => slack?.start(),
    /** Resolves when nothing is under way any more. The Temporal client may be closed then. */
    async close(): Promise<void> {
      await slack?.close();
      await overload.close();
      await calls.idle();
    },
  });
}

type UseCase<First> = (first: First, ...rest: never[]) => unknown;

/** The same functions without their first parameter. */
function withFirst<First, Cases extends Record<string, UseCase<First>>>(first: First, cases: Cases) {
  const entries = Object.entries(cases).map(([name, useCase]) => [name, useCase.bind(undefined, first)]);
  return Object.fromEntries(entries) as {
    [Name in keyof Cases]: Cases[Name] extends (first: never, ...rest: infer Rest) => infer Result
      ? (...rest: Rest) => Result
      : never;
  };
}
