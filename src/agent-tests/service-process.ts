/**
 * The process of the service under test: API and worker as in production, on a database and a Temporal of their own. The
 * runner's process starts it, kills it for a restart, and talks to it over Node's IPC. It ends with the runner.
 */
import { en } from '../turn/words/en.ts';
import { readFileSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Client } from '@temporalio/client';
import { activityInfo } from '@temporalio/activity';
import { APICallError } from 'ai';
import { parse } from 'yaml';
import type { Config, ProvidersConfig } from '../platform/config/config.ts';
import { isOurVariable } from '../platform/config/environment.ts';
import { loadConfig } from '../platform/config/load-config.ts';
import { sealAccount } from '../credentials/mcp-oauth/account.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import { startTemporalServer } from '../platform/development/temporal-server.ts';
import type { TemporalServer } from '../platform/development/temporal-server.ts';
import { createModels, keyVariable, ModelConfigError } from '../models/provider.ts';
import { createScriptedModel, toConversation } from '../models/scripted/scripted-model.ts';
import type { Move } from '../models/scripted/script.ts';
import { serveApi } from '../platform/processes/api-process.ts';
import { openDependencies } from '../platform/processes/dependencies.ts';
import type { Dependencies } from '../platform/processes/dependencies.ts';
import { startWorker } from '../platform/processes/start-worker.ts';
import { readTurnCode } from '../platform/processes/workers/turn-code.ts';
import { installRuntime } from '../platform/processes/workers/turn-workers.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { clientBeside, connectWorker } from '../platform/temporal/connection.ts';
import { requireNamespace } from '../platform/temporal/namespace.ts';
import { openAgentBundles } from '../platform/tool-bundles/open-agent-bundles.ts';
import { turnOfWorkflow } from '../turn/turn.ts';
import type { TurnRef } from '../turn/turn.ts';
import { questionsSettled } from '../workflows/messages.ts';
import { countExecutions, countRequests } from './count-calls.ts';
import type { Account, FromService, Question, StepReply, ToService } from './protocol.ts';
import { useProxy } from '@interlude-ai/core/proxy.ts';

useProxy();

const waiting = new Map<number, (reply: StepReply) => void>();
let asked = 0;
let service: Service | undefined;
let temporal: TemporalServer | undefined;
/** Removed at the end. */
let dataDir: string | undefined;

interface Service {
  parts: Dependencies;
  client: Client;
}

process.on('disconnect', () => void end());
// Ctrl+C ends the runner, and so this process.
process.on('SIGINT', () => undefined);
process.on('message', (message: ToService) => {
  if (message.kind === 'step') {
    waiting.get(message.id)?.(message.reply);
    waiting.delete(message.id);
    return;
  }
  answer(message.question).then(
    (result) => send({ kind: 'answer', id: message.id, result }),
    (error: unknown) => send({ kind: 'answer', id: message.id, error: textOf(error) }),
  );
});

function send(message: FromService): void {
  // The runner's process may be gone.
  process.send?.(JSON.stringify(message), () => undefined);
}

async function end(): Promise<void> {
  await temporal?.stop().catch(() => undefined);
  if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function answer(question: Question): Promise<unknown> {
  switch (question.do) {
    case 'start temporal': {
      const { port, uiPort } = question;
      dataDir = question.dataDir;
      const logger = createLogger({ level: 'error', human: true });
      const ports = { namespace: 'default', port, uiPort };
      temporal = await startTemporalServer({ temporal: ports, dataDir, logger });
      return temporal.address;
    }
    case 'start':
      dataDir = question.settings['INTERLUDE_DATA'];
      service = await start(question);
      return null;
    case 'read log': {
      const { storage } = running().parts;
      const entries = await storage.turnLog.read(question.turn, 0);
      return entries.filter(({ turnId }) => turnId === question.turn.turnId).map(({ event }) => event);
    }
    case 'skip':
      return skip(running(), question.turn, question.ms);
    case 'connect':
      return connect(running().parts, question.account);
    case 'finish reports':
      return null;
    default:
      return question satisfies never;
  }
}

function running(): Service {
  if (!service) throw new Error('The service has not started.');
  return service;
}

async function start({
  environment,
  settings,
  folder,
}: Extract<Question, { do: 'start' }>): Promise<Service> {
  const others = Object.entries(environment).filter(([name]) => !isOurVariable(name));
  const variables: Record<string, string> = { ...Object.fromEntries(others), ...settings };
  const missingKeys = keysOfModels(settings['INTERLUDE_CONFIG'] ?? '').filter((name) => !(name in variables));
  const placeholders = Object.fromEntries(missingKeys.map((name) => [name, 'no-key']));
  const given = loadConfig({ ...placeholders, ...variables }, folder);
  const logger = createLogger({ level: given.logLevel, human: true });
  installRuntime(logger);
  // The name after # tells the model which agent it speaks for.
  const agents = [...given.agents].map(
    ([name, agent]) => [name, { ...agent, model: `${agent.model}#${name}` }] as const,
  );
  const config: Config = { ...given, agents: new Map(agents) };
  const stack = new AsyncDisposableStack();
  const configured = createModels(given);
  const parts: Dependencies = {
    ...(await openDependencies(config, logger)),
    models: async (spec) => {
      const [model = '', agent = ''] = spec.split(/#(?=[^#]*$)/);
      return modelOf(agent, async () => {
        const key = keyVariable(model, given.providers);
        if (key !== null && missingKeys.includes(key))
          throw new ModelConfigError(`The model ${model} needs a key: set ${key}.`);
        return (await configured(model)) as LanguageModelV4;
      });
    },
    aroundTools: (code) => countExecutions(code, (call) => send({ kind: 'call', call })),
  };
  countRequests(config.servers, (call) => send({ kind: 'call', call }));
  const { namespace, deployment } = config.temporal;
  const [connection, code, tools] = await Promise.all([
    connectWorker(config.temporal),
    readTurnCode(deployment),
    openAgentBundles(config),
  ]);
  await requireNamespace(connection, namespace);
  const { client } = clientBeside(connection, config.temporal, { keys: parts.keys });
  const { startsHere } = await startWorker(
    parts,
    { connection, client, code, tools, kind: 'start', isAlone: true },
    stack,
  );
  await serveApi({ ...parts, startsHere }, client, stack);
  return { parts, client };
}

/** The variables with keys. Scripts need no key, and without one the agents file is refused. */
function keysOfModels(file: string): string[] {
  const { agents, providers } = (parse(readFileSync(file, 'utf8')) ?? {}) as {
    agents?: Record<string, { model?: string } | null>;
    providers?: ProvidersConfig;
  };
  const models = Object.values(agents ?? {}).map((agent) => agent?.model ?? '');
  return models.flatMap((model) => keyVariable(model, providers ?? {}) ?? []);
}

/** Asks the test for each step; the step is its script's, its cassette's, or that of the configured model. */
function modelOf(agent: string, configured: () => Promise<LanguageModelV4>): LanguageModelV4 {
  const doStream: LanguageModelV4['doStream'] = async (options) => {
    const { workflowId = '' } = activityInfo().workflowExecution ?? {};
    const { turnId = '' } = turnOfWorkflow(workflowId) ?? {};
    const { userText, tools, outcomes } = toConversation(options);
    const lastUser = options.prompt.findLastIndex(({ role }) => role === 'user');
    const number = options.prompt.slice(lastUser).filter(({ role }) => role === 'assistant').length;
    const id = asked++;
    const reply = await new Promise<StepReply>((resolve) => {
      waiting.set(id, resolve);
      const results = outcomes.map(({ tool, ok, text }) => ({ tool, text, isError: !ok }));
      const step = { turnId, workflowId, agent, number, message: userText, tools: [...tools], results };
      send({ kind: 'step', id, step });
    });
    switch (reply.kind) {
      case 'move':
        return createScriptedModel({ rules: [() => reply.move], wordDelayMs: 0 }).doStream(options);
      case 'error':
        throw new APICallError({
          message: reply.message,
          url: 'script:',
          requestBodyValues: {},
          statusCode: 400,
          isRetryable: false,
        });
      case 'configured': {
        const { stream, ...rest } = await (await configured()).doStream(options);
        const noting = notingMove((move) => send({ kind: 'move', id, move }));
        return { ...rest, stream: stream.pipeThrough(noting) };
      }
      default:
        return reply satisfies never;
    }
  };
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: agent,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('Turns stream their steps.')),
    doStream,
  };
}

function notingMove(note: (move: Move) => void) {
  let say = '';
  const calls: NonNullable<Move['calls']> = [];
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      if (part.type === 'text-delta') say += part.delta;
      if (part.type === 'tool-call')
        calls.push({ tool: part.toolName, input: JSON.parse(part.input) as Record<string, unknown> });
      controller.enqueue(part);
    },
    flush: () => note({ ...(say !== '' && { say }), ...(calls.length > 0 && { calls }) }),
  });
}

/**
 * Moves the time of one turn: its open questions come closer to their deadlines. Then the workflows that wait get the
 * signal that they get for every settled question. As after their timer, they read the rows, and the rows decide.
 */
async function skip({ parts, client }: Service, turn: TurnRef, ms: number): Promise<void> {
  const { config, storage } = parts;
  if (config.database.kind !== 'sqlite') throw new Error('Tests keep their database in a file.');
  using database = new DatabaseSync(config.database.path, { timeout: 0 });
  const move = database.prepare(
    `update elicitations set deadline = deadline - ? where turn_id = ? and status = 'pending'`,
  );
  await untilFree(() => move.run(ms, turn.turnId));
  const waiters = database
    .prepare(
      `select id, workflow_id as workflowId from elicitations
       join question_waiters on elicitation_id = id where turn_id = ? and status = 'pending'`,
    )
    .all(turn.turnId) as { id: string; workflowId: string | null }[];
  const ids = new Set(waiters.map(({ id }) => id));
  for (const workflowId of new Set(waiters.map((waiter) => waiter.workflowId))) {
    const elicitationIds = waiters.filter((one) => one.workflowId === workflowId).map(({ id }) => id);
    // The process that holds the server's connection waits for the row itself.
    if (workflowId === null) await storage.elicitations.settle(elicitationIds, { type: 'deadline-passed' });
    else await client.workflow.getHandle(workflowId).signal(questionsSettled, { elicitationIds });
  }
  const overdue = (await storage.elicitations.read([...ids])).filter(({ remainingMs }) => remainingMs === 0);
  const signal = AbortSignal.timeout(10_000);
  await Promise.all(overdue.map(({ question }) => storage.elicitations.untilSettled(question, signal)));
}

const sqliteBusy = 5;

/** SQLite itself would wait in this thread, in which the transaction that it waits for has to go on. */
async function untilFree(write: () => unknown): Promise<void> {
  for (;;) {
    try {
      write();
      return;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    }
    await sleep(2);
  }
}

async function connect({ config, keys, stores, storage }: Dependencies, account: Account): Promise<void> {
  const { tenant, user, token } = account;
  const server = config.servers.get(account.server);
  if (!server)
    throw new Error(
      `${path.basename(config.configFile)} has no server "${account.server}"; it has ${[...config.servers.keys()].join(', ')}`,
    );
  const key = connectionKey(server, { tenant, user });
  if (server.store === 'vault') {
    const kept = await stores.vault.keep(server, key, token);
    if (kept.kind !== 'kept') throw new Error(en.keyProblem(server.title, kept.problem));
    return;
  }
  if (server.store !== 'oauth') throw new Error(`${server.name} keeps its accounts in ${server.store}.`);
  const now = storage.now();
  const sealed = sealAccount(keys, key, {
    accessToken: token,
    obtainedAt: now,
    expiresAt: null,
    connectedAt: now,
    serverUrl: server.url,
    issuer: server.oauth?.issuer ?? new URL(server.url).origin,
    resource: null,
    client: { kind: 'document', clientId: 'test' },
  });
  await storage.connections.establish(key, {
    store: 'oauth',
    account: user,
    scopes: [],
    sealed,
    freshUntil: null,
  });
}
