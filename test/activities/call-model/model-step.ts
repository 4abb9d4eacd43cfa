/** One step of one turn: the real activity between a real database and a real model server. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { environmentSchema } from '../../../src/platform/config/environment-schema.ts';
import { limitsFrom } from '../../../src/platform/config/limits.ts';
import { createCallModel } from '../../../src/activities/call-model/call-model.ts';
import type { ModelCallInput, ModelCallResult, StepResult } from '../../../src/turn/step.ts';
import type { AgentConfig, Config } from '../../../src/platform/config/config.ts';
import type { ModelTool } from '../../../src/remote/model-tools.ts';
import { createBackoff } from '../../../src/remote/catalogue.ts';
import { createModels } from '../../../src/models/provider.ts';
import { refuseWhileBusy } from '../../storage/contract/fixtures.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';
import type { Turn } from '../../../src/turn/turn.ts';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { Reply } from '../../servers/openai-server.ts';

export const turn: Turn = {
  tenant: 'acme',
  conversation: 'c1',
  turnId: 't1',
  agent: 'assistant',
  user: 'alice',
  capabilities: { url: true, form: true },
};

export const agent: AgentConfig = {
  name: 'assistant',
  title: 'Assistant',
  description: '',
  model: 'openai-compatible:small',
  images: false,
  instructions: 'You help.',
  modelSettings: {},
  servers: [{ name: 'tracker' }, { name: 'notes' }],
  agents: [],
  maxSteps: 20,
};

const images = { perMessage: 1, maxBytes: 1, maxBytesPerMessage: 1, maxBytesPerConversation: 1 };

export const listIssues: ModelTool = {
  modelName: 'tracker__list_issues',
  server: 'tracker',
  tool: 'list_issues',
  description: 'Lists issues',
  inputSchema: { type: 'object' },
  readOnly: true,
  idempotent: true,
};
const connectNotes: ModelTool = { ...listIssues, modelName: 'connect_notes', server: 'notes', tool: null };

export interface CallOptions {
  attempt?: number;
  /** Where the workflow runs the activity again as another one. */
  repeats?: ModelCallInput['repeats'];
  step?: number;
  model?: string;
  agents?: Map<string, AgentConfig>;
  /** Whose step it is, when not the turn's own agent's. */
  of?: Turn;
  delegation?: Config['delegation'];
  /** What its servers have. */
  tools?: ModelTool[];
  /** How long the model may be silent. */
  silenceMs?: number;
  /** Puts something in front of the database, to make it fail. */
  storage?: Storage;
  environment?: MockActivityEnvironment;
}

export type ModelStep = Awaited<ReturnType<typeof openModelStep>>;

export function activityEnvironment(attempt = 1): MockActivityEnvironment {
  return new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
}

/** The model server gives these replies in turn, each as soon as it is there, and fails after the last. */
export async function openModelStep(...replies: (Reply | Promise<Reply>)[]) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'interlude-'));
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'test.db') });
  const server = await createOpenAIServer({
    reply: (_, index) => replies[index] ?? { kind: 'status', status: 500 },
  });
  const message = { id: 'm1', role: 'user' as const, content: 'List my open issues in Tracker.' };
  await storage.turns.prepare({ ...turn, clientMessageId: 'm1', messages: [message] }, refuseWhileBusy);
  await storage.turns.begin(turn);
  let logged = '';

  /** The turn's log, without its first entry. */
  async function events(): Promise<TurnEvent[]> {
    const entries = await storage.turnLog.read(turn, 0);
    return entries.map(({ event }) => event).filter(({ type }) => type !== 'turn-started');
  }

  return {
    server,
    storage,
    /** Everything logged so far. */
    logged: () => logged,
    events,
    async callModel({
      attempt = 1,
      step = 0,
      silenceMs = 5_000,
      model = agent.model,
      ...options
    }: CallOptions = {}): Promise<StepResult> {
      const { baseURL } = server;
      const providers = { 'openai-compatible': { baseURL, apiKeyEnv: 'MODEL_API_KEY', headers: {} } };
      const activities = createCallModel({
        storage: options.storage ?? storage,
        models: createModels({ providers, configDir: folder, secret: () => 'sk-secret' }),
        agents: options.agents ?? new Map([[agent.name, { ...agent, model }]]),
        servers: new Map(),
        catalogue: {
          toolsFor: async () => options.tools ?? [listIssues, connectNotes],
          backoff: createBackoff(),
        },
        config: {
          providers,
          images,
          delegation: options.delegation ?? { maxDepth: 5, maxPerStep: 10 },
          limits: limitsFrom(environmentSchema.parse({})),
        },
        logger: pino({}, { write: (line: string) => void (logged += line) }),
        silenceLimits: { firstMs: silenceMs, nextMs: silenceMs },
      });
      const environment = options.environment ?? activityEnvironment(attempt);
      const { repeats } = options;
      const input: ModelCallInput = { turn: options.of ?? turn, step, ...(repeats && { repeats }) };
      const result: ModelCallResult = await environment.run(activities.callModel, input);
      if (result.finish === 'withdrawn') throw new Error('This turn has begun.');
      return result;
    },
    /** What its step has said, as a reader sees it: types, and each run of deltas joined. */
    async story() {
      const lines: string[] = [];
      for (const event of await events()) {
        if (event.type === 'turn-ended') continue;
        const last = lines.length - 1;
        if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') lines.push(event.type);
        else if (lines[last]?.startsWith(`${event.type}: `)) lines[last] += event.delta;
        else lines.push(`${event.type}: ${event.delta}`);
      }
      return lines;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}
