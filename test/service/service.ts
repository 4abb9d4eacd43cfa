/**
 * The whole service inside a test: API, worker, database, identity provider and Tracker, all real and listening,
 * on a Temporal server that the test brings along (with its own clock, or a development server).
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { decodeJwt, SignJWT } from 'jose';
import type { Logger } from 'pino';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import { loadOrCreateProviderKeys } from '../../demo/provider-keys.ts';
import type { Tracker } from '../../demo/tracker/tracker.ts';
import { createApiKey } from '../../src/service/api-keys.ts';
import { createApp } from '../../src/api/app.ts';
import { startLostTurns } from '../../src/platform/processes/api-process.ts';
import { openDependencies } from '../../src/platform/processes/dependencies.ts';
import { sendOutbox } from '../../src/platform/processes/run-process.ts';
import type { Dependencies } from '../../src/platform/processes/dependencies.ts';
import { createService } from '../../src/service/service.ts';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { startPolling } from '../../src/platform/loops/polling.ts';
import type { KeyRing } from '../../src/credentials/sealing/key-ring.ts';
import type { ApprovalSettings } from '@interlude-ai/core/elicitation/approval.ts';
import { exposedTools, offerTools } from '../../src/platform/processes/start-worker.ts';
import { startToolWorkers } from '../../src/platform/processes/workers/tool-workers.ts';
import { clientOver } from '../../src/platform/temporal/connection.ts';
import { openingCodec } from '../../src/platform/temporal/sealed-payloads.ts';
import type { ToolBundle } from '../../src/platform/tool-bundles/tool-bundle.ts';
import { routedByTemporal } from '../../src/storage/tables/versions.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createTurnWorker } from '../../src/platform/processes/workers/turn-workers.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { startDependencies } from './dependencies.ts';
import { createCaller } from './user.ts';
import type { Caller } from './user.ts';

export interface Service {
  baseUrl: string;
  /** What its processes share. */
  parts: Dependencies;
  storage: Storage;
  tracker: Tracker;
  as(user: string): Promise<Caller>;
  /** For clients other than ours. What they begin is ended with the service when `begun` names it. */
  token(user: string): Promise<string>;
  /** `expiresAt`: in seconds since 1970. The service accepts it for five more, because clocks may differ. */
  tokenUntil(user: string, expiresAt: number): Promise<string>;
  begun(conversation: string): void;
  /** A service account's token, without a person. */
  apiKey(): Promise<string>;
  asService(): Promise<Caller>;
  /** A program that acts for users of the tenant with this key. */
  actingFor(user: string, key: string): Caller;
  /** Ends the turns that wait for a person. */
  endTurns(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** `currentTimeMs`: its own clock, which deadlines follow. */
  temporal: { client: Client; connection: NativeConnection; currentTimeMs?(): Promise<number> };
  env?: Record<string, string>;
  logger?: Logger;
  /** Wraps the storage, to delay a call or to make it fail. */
  around?: (storage: Storage) => Storage;
  /** Tools in TypeScript that the agents of these names have. */
  tools?: Record<string, ToolBundle>;
  /** Which of their calls a person approves. */
  approval?: ApprovalSettings;
  /** While it returns true, the outbox delivers nothing. */
  isOutboxHeld?: () => boolean;
  /** Calls go over the connection of the workers, which say what starts there. */
  startsHere?: (buildId: string) => boolean;
  /** The workers that `startWorkers` starts have versions. */
  isVersioned?: boolean;
  /** Instead of one worker without a version. What it starts ends with the stack. */
  startWorkers?: (parts: Dependencies, stack: AsyncDisposableStack) => Promise<void>;
}

const agentsFile = fileURLToPath(new URL('../fixtures/agents.yaml', import.meta.url));

export async function startService({
  temporal,
  env = {},
  logger = createLogger({ level: process.env['TEST_LOG'] ?? 'silent', human: true }),
  around = (storage) => storage,
  tools = {},
  approval,
  isOutboxHeld = () => false,
  startsHere,
  isVersioned = false,
  startWorkers = (parts, stack) => startWorker(parts, stack, temporal.connection, tools, approval),
}: ServiceOptions): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const { dataDir, baseUrl, tracker, identity, env: dependencyEnv } = await startDependencies(stack);

  const config = loadConfig(
    {
      ...dependencyEnv,
      INTERLUDE_CONFIG: agentsFile,
      INTERLUDE_DATA: dataDir,
      TEMPORAL_TASK_QUEUE: `test-${randomUUID()}`,
      ...env,
    },
    dataDir,
  );
  const time = temporal.currentTimeMs && (() => temporal.currentTimeMs!());
  const opened = await openDependencies(config, logger, { ...(time && { time }) });
  stack.defer(() => opened.storage.close());
  const storage = around(opened.storage);
  const parts = { ...opened, storage };

  if (!isVersioned) await storage.versions.use(config.temporal.deployment.name, routedByTemporal);
  await startWorkers(parts, stack);
  const conversations = new Set<string>();
  const endAll = async () => {
    const begun = [...conversations];
    conversations.clear();
    await endTurns(temporal.client, opened.storage, begun);
  };
  const { auth } = config;
  if (!auth) throw new Error('the test configures an issuer');
  const client = startsHere
    ? clientOver(temporal.connection, config.temporal, parts)
    : readingClient(temporal.client, parts.keys);
  sendOutbox({ ...parts, installation: { isTogether: () => !isOutboxHeld() } }, client, stack);
  const service = createService({ ...parts, client, ...(startsHere && { startsHere }) });
  const app = createApp({ logger, config: { ...config, auth }, service });
  stack.defer(() => app.close());
  const lostTurns = startLostTurns(parts, client, service, 1_000);
  stack.defer(() => lostTurns.stop());
  // Before the outbox stops, which notifies the workflows of these turns.
  stack.defer(endAll);
  await app.listen(config.http);

  const started = stack.move();
  const token = (user: string) => demoToken(identity.issuer, user);
  const tokenUntil = async (user: string, exp: number) => {
    const { jwks } = await loadOrCreateProviderKeys(
      path.join(dataDir, 'identity', 'demo-identity.json'),
      'RS256',
    );
    const [key = {}] = jwks.keys;
    const good = await token(user);
    return new SignJWT({ ...decodeJwt(good), exp })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid ?? '' })
      .sign(key);
  };
  return {
    baseUrl,
    parts,
    storage,
    tracker,
    token,
    tokenUntil,
    begun: (conversation) => void conversations.add(conversation),
    as: async (user) => createCaller(baseUrl, await token(user), conversations),
    apiKey: () => createApiKey(storage, 'demo'),
    asService: async () => createCaller(baseUrl, await createApiKey(storage, 'demo'), conversations),
    actingFor: (user, key) => createCaller(baseUrl, key, conversations, user),
    endTurns: endAll,
    stop: () => started.disposeAsync(),
  };
}

/** Reads what the workflows of tools say, which is sealed. */
function readingClient({ connection, options }: Client, keys: KeyRing): Client {
  return new Client({
    connection,
    namespace: options.namespace,
    dataConverter: { payloadCodecs: [openingCodec(keys)] },
  });
}

async function startWorker(
  parts: Dependencies,
  stack: AsyncDisposableStack,
  connection: NativeConnection,
  tools: Record<string, ToolBundle>,
  approval: ApprovalSettings | undefined,
): Promise<void> {
  stack.defer(() => parts.remote.close());
  const heldCallLimit = createHeldCallLimit(parts.config.worker.heldCalls);
  const bundles = new Map(Object.entries(tools).map(([agent, bundle]) => [agent, { bundle, approval }]));
  await parts.storage.exposedTools.replace([...parts.config.agents.keys()], exposedTools(bundles));
  const offered = [...new Set(Object.values(tools))];
  const toolWorkers = offered.length > 0 ? await startToolWorkers(parts, connection, offered) : null;
  const own = { ...parts, heldCallLimit, offeredTools: offerTools(bundles) };
  const worker = await createTurnWorker(own, connection, { workflowBundle: await workflowBundle() });
  const running = worker.run();
  const looks = startPolling(parts);
  stack.defer(async () => {
    heldCallLimit.end();
    worker.shutdown();
    await Promise.all([running, looks.stop(), toolWorkers?.stop()]);
  });
}

/**
 * Work left behind would hold a test server's clock. Cancels only what waits for a person, and lets the rest end. A turn
 * that the test server itself loses is terminated: while its result is awaited, that server lets time pass.
 */
async function endTurns(client: Client, storage: Storage, conversations: string[]): Promise<void> {
  const { turnLog, turns, elicitations } = storage;
  const begun = await Promise.all(
    conversations.map(async (conversation) => {
      const ref = { tenant: 'demo', conversation };
      const turnIds = (await turnLog.read(ref, 0)).map(({ turnId }) => turnId);
      const waiting = await elicitations.ofConversation(ref, 'pending');
      for (const turnId of new Set(waiting.map((question) => question.turnId)))
        await turns.cancel({ ...ref, turnId });
      return [...new Set(turnIds)].map((turnId) => ({ ...ref, turnId }));
    }),
  );
  for (const turn of begun.flat()) {
    const handle = client.workflow.getHandle(turnWorkflowId(turn));
    const over = handle.result().catch(() => undefined);
    const isOver = await Promise.race([over.then(() => true), delay(5_000, false, { ref: false })]);
    if (isOver) continue;
    await handle.terminate('lost by the test server').catch(() => undefined);
    await over;
    await turns.end(turn, 'failed');
  }
}
