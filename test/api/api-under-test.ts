/**
 * The API with a real database and a real identity provider, without a worker: for everything that happens before a
 * workflow runs, and for answers when no worker runs or Temporal is unreachable.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { demoAudience, demoLoginClient } from '../../demo/identity.ts';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import { createApiKey } from '../../src/service/api-keys.ts';
import { createApp } from '../../src/api/app.ts';
import { createService } from '../../src/service/service.ts';
import type { Config } from '../../src/platform/config/config.ts';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { openDependencies } from '../../src/platform/processes/dependencies.ts';
import type { ElicitationRow } from '../../src/storage/schema/question-tables.ts';
import type { NewQuestion } from '../../src/storage/tables/elicitation-rows.ts';
import { routedByTemporal } from '../../src/storage/tables/versions.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { connectLazily } from '../../src/platform/temporal/connection.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { startIdentity } from '../service/identity.ts';
import { refuseWhileBusy } from '../storage/contract/fixtures.ts';
import { question } from '../storage/contract/question.ts';

export interface ApiUnderTest {
  app: FastifyInstance;
  config: Config;
  storage: Storage;
  headers(who: Who): { authorization: string };
  send(who: Who, request: InjectOptions): Promise<LightMyRequestResponse>;
  stop(): Promise<void>;
}

/** `service` is one of the name `reports`; `stranger` is a service of another tenant. */
export type Who = 'alice' | 'bob' | 'service' | 'stranger';

export const tenant = 'demo';

const agentsFile = fileURLToPath(new URL('../fixtures/agents.yaml', import.meta.url));

export interface ApiOptions {
  env?: Record<string, string>;
  /** Where Temporal is. Left out, it is on the discard port, where nothing listens. */
  temporal?: string;
}

export async function startApi({
  env = {},
  temporal = '127.0.0.1:9',
}: ApiOptions = {}): Promise<ApiUnderTest> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-api-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const identity = await startIdentity({
    port: 0,
    dataDir,
    redirectUris: ['http://localhost/auth/login/callback'],
  });
  stack.defer(() => identity.stop());
  const config = loadConfig(
    {
      INTERLUDE_CONFIG: agentsFile,
      INTERLUDE_DATA: dataDir,
      TRACKER_URL: 'http://127.0.0.1:9/mcp',
      AUTH_ISSUER: identity.issuer,
      AUTH_AUDIENCE: demoAudience,
      AUTH_CLIENT_ID: demoLoginClient,
      ...env,
    },
    dataDir,
  );
  const { auth } = config;
  if (!auth) throw new Error('the test configures an issuer');
  const parts = await openDependencies(config, pino({ level: 'silent' }));
  const { storage } = parts;
  stack.defer(() => storage.close());
  await storage.versions.use(config.temporal.deployment.name, routedByTemporal);
  const { connection, close } = connectLazily({
    address: temporal,
    namespace: 'default',
    apiKey: undefined,
    tls: false,
  });
  stack.defer(close);
  const app = createApp({
    logger: parts.logger,
    config: { ...config, auth },
    service: createService({ ...parts, client: new Client({ connection }) }),
  });
  stack.defer(() => app.close());
  await app.ready();

  const credentials = {
    alice: await demoToken(identity.issuer, 'alice'),
    bob: await demoToken(identity.issuer, 'bob'),
    service: await createApiKey(storage, tenant, null, { service: 'reports' }),
    stranger: await createApiKey(storage, 'another-tenant'),
  };
  const started = stack.move();
  const headers = (who: Who) => ({ authorization: `Bearer ${credentials[who]}` });
  return {
    app,
    config,
    storage,
    headers,
    send: (who, request) => app.inject({ ...request, headers: { ...headers(who), ...request.headers } }),
    stop: () => started.disposeAsync(),
  };
}

/** A conversation of alice's in which a turn runs. */
export async function beginTurn(
  storage: Storage,
  conversation: string,
  agent = 'assistant',
): Promise<TurnRef> {
  const turn = {
    tenant,
    conversation,
    turnId: `turn-of-${conversation}`,
    agent,
    user: 'alice',
    capabilities: { url: true, form: true },
  };
  const message = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'hello' }] } as const;
  await storage.turns.prepare({ ...turn, clientMessageId: 'm1', messages: [message] }, refuseWhileBusy);
  await storage.turns.begin(turn);
  return turn;
}

/** A question to alice in that turn. */
export async function ask(
  storage: Storage,
  turn: TurnRef,
  given: Partial<NewQuestion> = {},
): Promise<string> {
  const id = given.id ?? `question-of-${turn.conversation}`;
  const context = {
    trigger: 'credential_required',
    agent: 'Assistant',
    server: 'tracker',
    serverTitle: 'Tracker',
    host: '127.0.0.1:9',
  } as const;
  const request = {
    mode: 'url',
    message: 'Tracker needs your account.',
    url: `http://localhost/auth/connect?e=${id}`,
    context,
  } as const;
  await storage.elicitations.open([question(turn, { id, request, ...given })], { perUser: 20 });
  return id;
}

export function formRequest(requestedSchema: Record<string, unknown>): ElicitationRow['request'] {
  const context = {
    trigger: 'mcp_elicitation',
    agent: 'Assistant',
    server: 'tracker',
    serverTitle: 'Tracker',
    host: '127.0.0.1:9',
  } as const;
  return { mode: 'form', message: 'Which project?', requestedSchema, context };
}
