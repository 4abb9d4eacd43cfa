/**
 * A worker that stands still for longer than Temporal waits for it (a paused machine, a full disk), while another one
 * takes over what it had, and that wakes up again and goes on as if nothing had happened.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import { freePort } from '../free-port.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { OpenAIServer, Reply } from '../servers/openai-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { done, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { postgresUrl } from '../postgres.ts';
import type { ServiceProcess } from './processes.ts';
import { callsIn, expectSameForNewcomer, failuresIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let model: OpenAIServer;
let server: ScriptedMcpServer;
let reply: (index: number) => Reply | Promise<Reply>;
let databaseUrl: string;
/** The only one, whenever a test begins. */
let worker: ServiceProcess;

const askedFor = (id: string): Reply => ({
  kind: 'tool-calls',
  calls: [{ id, name: 'asking__ask', arguments: '{}' }],
});
const text = (words: string): Reply => ({ kind: 'text', chunks: [words] });

beforeAll(async () => {
  model = await createOpenAIServer({ reply: (_, index) => reply(index) });
  server = await startScriptedMcpServer();
  databaseUrl = await postgresUrl();
  const temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
    },
  });
  deployment.defer(() => model.stop());
  deployment.defer(() => server.stop());
  const config = path.join(deployment.dataDir, 'frozen.yaml');
  await writeFile(
    config,
    `providers: { openai-compatible: { baseURL: '${model.baseURL}' } }
servers: { asking: { url: '${server.url}', credentialScope: none } }
agents: { assistant: { model: 'openai-compatible:any', servers: [asking] } }
`,
  );
  deployment.environment['INTERLUDE_CONFIG'] = config;
  await deployment.startTemporal(temporalPort);
  [worker] = await Promise.all([deployment.start('worker'), deployment.start('server')]);
  // The server's tools are learnt.
  reply = () => text('Hello.');
  await say(deployment.client('alice'), 'hello').end();
}, 90_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

/** Runs `work` while the only worker stands still and another one is there; then both run. Returns the first one. */
async function whileFrozen(work: () => Promise<unknown>): Promise<ServiceProcess> {
  const frozen = worker;
  worker = await deployment.start('worker');
  process.kill(frozen.pid, 'SIGSTOP');
  deployment.defer(() => frozen.isAlive() && process.kill(frozen.pid, 'SIGCONT'));
  await work();
  process.kill(frozen.pid, 'SIGCONT');
  return frozen;
}

const begin = (next: typeof reply) => {
  reply = next;
  // The model counts from zero again.
  model.requests.length = 0;
  return say(deployment.client('alice'), 'go');
};

async function eventsOf(conversation: string) {
  const storage = await openStorage({ kind: 'postgres', url: databaseUrl });
  const log = await storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  await storage.close();
  return log.map(({ event }) => event);
}

test(
  'while the model thinks: the second attempt is the only one, whatever the first one hears after all',
  { timeout: 120_000 },
  async () => {
    const late = Promise.withResolvers<Reply>();
    server.play(done('ran'));
    const turn = begin((index) => [late.promise, askedFor('second'), text('It ran.')][index] ?? text('?'));
    while (model.requests.length === 0) await model.next();
    const frozen = await whileFrozen(async () => {
      const end = await turn.end();
      expect(end.status).toBe('completed');
      expect(textOf(end)).toBe('It ran.');
    });
    late.resolve(askedFor('first'));
    // It has heard what the model said, and has nothing left to do.
    await frozen.kill('SIGTERM');
    expect(server.calls).toHaveLength(1);
    expect(callsIn(await turn.end())).toEqual(['asking__ask: done']);
    const events = await eventsOf(turn.message.conversationId);
    expect(events.at(-1)).toMatchObject({ type: 'turn-ended' });
    expect(JSON.stringify(events)).not.toContain('"first"');
    await expectSameForNewcomer(deployment.client('alice'), turn);
  },
);

test(
  'while a tool works: the model reads that nobody knows, and what comes late changes nothing',
  { timeout: 120_000 },
  async () => {
    const called = Promise.withResolvers<() => void>();
    server.play((message, response) => called.resolve(() => answer(message, response, done('late'))));
    const turn = begin((index) => (index === 0 ? askedFor('only') : text('Nobody knows.')));
    const finishLate = await called.promise;
    const frozen = await whileFrozen(async () => {
      const end = await turn.end();
      expect(end.status).toBe('completed');
      expect(failuresIn(end)).toEqual([expect.stringContaining('unknown whether')]);
    });
    finishLate();
    await frozen.kill('SIGTERM');
    expect(server.calls).toHaveLength(1);
    const events = await eventsOf(turn.message.conversationId);
    expect(events.at(-1)).toMatchObject({ type: 'turn-ended' });
    expect(JSON.stringify(events)).not.toContain('late');
  },
);

test(
  'five times while the model thinks: the turn waits until its worker keeps up',
  { timeout: 240_000 },
  async () => {
    const never = new Promise<Reply>(() => {});
    const turn = begin((index) => (index < 6 ? never : text('Here after all.')));
    for (let attempt = 0; attempt < 6; attempt++) {
      while (model.requests.length <= attempt) await model.next();
      await whileFrozen(async () => {
        // The worker that was just started makes the next attempt, once Temporal has missed this one's heartbeats.
        while (model.requests.length <= attempt + 1) await model.next();
      }).then((frozen) => frozen.kill('SIGKILL'));
    }
    const end = await turn.end();
    expect([end.status, textOf(end)]).toEqual(['completed', 'Here after all.']);
  },
);
