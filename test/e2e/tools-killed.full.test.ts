/**
 * The only worker is killed with -9 around an approval, of a server's tool and of both forms of a tool in TypeScript at once:
 * the person is asked once, each call is made at most once, and the model reads what became of it.
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { done, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { CallMessage, ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { startTemporalProxy } from '../servers/temporal-proxy.ts';
import type { Fate, Task } from '../servers/temporal-proxy.ts';
import type { ServiceProcess } from './processes.ts';
import { failuresIn, questionsIn, say, textOf, workflowIdOf } from './watch.ts';
import type { Watched } from './watch.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let temporal: Client['workflow'];
let server: ScriptedMcpServer;
let worker: ServiceProcess;
let proxied: string;

/** What the activities of the tool in TypeScript have done: cities. */
const booked: string[] = [];
/** The calls about this city do not end while the worker lives. */
const endless = 'Oslo';
const calledEndless = {
  server: Promise.withResolvers<void>(),
  own: Promise.withResolvers<void>(),
  plain: Promise.withResolvers<void>(),
};
const dead = Promise.withResolvers<void>();

type Moment = Task & { when: 'handed over' | 'reported' };
type Point = (moment: Moment) => boolean;

/** The worker dies during these tasks. */
const traps = new Set<{ fits: Point; spring(): void }>();

async function atTask(task: Task, when: Moment['when']): Promise<Fate> {
  const trap = [...traps].find(({ fits }) => fits({ ...task, when }));
  if (!trap) return 'pass';
  traps.delete(trap);
  trap.spring();
  await dead.promise;
  return 'dead';
}

const once = { said: 'done', failures: [] as string[], questions: ['accept'] };
const decides: Point = ({ kind, when }) => kind === 'workflow' && when === 'reported';

/** A server's tool; one in TypeScript with `run`; and one with `execute`. */
const kinds = ['server', 'own', 'plain'] as const;
type Kind = (typeof kinds)[number];

interface Case {
  city: string;
  /** Where its calls are when the worker dies. */
  at: Record<Kind, Point | Promise<unknown>>;
  /** How its turns end, where the calls are not simply done. */
  ends?: Record<Kind, object>;
}

const cases: Record<string, Case> = {
  'with the approval stored, and nothing decided': {
    city: 'Rome',
    at: { server: decides, own: decides, plain: decides },
  },
  'between the approval and the call': {
    city: 'Lyon',
    at: {
      server: ({ type, when }) => type === 'callTool' && when === 'handed over',
      own: ({ type, when }) => type === 'durableTool' && when === 'reported',
      plain: ({ type, when }) => type === 'executeTool' && when === 'handed over',
    },
  },
  'when the call was made': {
    city: 'Bern',
    at: {
      server: ({ type, when }) => type === 'callTool' && when === 'reported',
      own: ({ type, when }) => type === 'tool.book' && when === 'reported',
      plain: ({ type, when }) => type === 'executeTool' && when === 'reported',
    },
  },
  'during the call': {
    city: endless,
    at: {
      server: calledEndless.server.promise,
      own: calledEndless.own.promise,
      plain: calledEndless.plain.promise,
    },
    ends: {
      server: { failures: [expect.stringContaining('unknown whether')], questions: ['accept'] },
      own: { ...once, said: `Nobody knows whether ${endless} was booked.` },
      plain: { failures: [expect.stringContaining('unknown whether')], questions: ['accept'] },
    },
  },
};
const turns = new Map<string, Record<Kind, Watched>>();

beforeAll(async () => {
  server = await startScriptedMcpServer();
  const hotel = createServer((request, response) => {
    const city = request.url?.slice(1) ?? '';
    booked.push(city);
    if (!city.endsWith(endless)) return void response.end('done');
    calledEndless[city === endless ? 'own' : 'plain'].resolve();
    void dead.promise.then(() => response.end('late'));
  });
  const hotelPort = await freePort();
  hotel.listen(hotelPort, '127.0.0.1');
  const temporalPort = await freePort();
  const address = `127.0.0.1:${temporalPort}`;
  deployment = await createDeployment({
    env: {
      INTERLUDE_CONFIG: fileURLToPath(new URL('../fixtures/killed-agents.yaml', import.meta.url)),
      ASKING_URL: server.url,
      APPROVAL: 'always',
      HOTEL_URL: `http://127.0.0.1:${hotelPort}`,
      TEMPORAL_ADDRESS: address,
      INTERLUDE_KEYS: someKeys,
    },
  });
  deployment.defer(() => server.stop());
  deployment.defer(() => hotel.close());
  await deployment.startTemporal(temporalPort);
  const connection = await Connection.connect({ address });
  deployment.defer(() => connection.close());
  const client = new Client({ connection, namespace: 'default' });
  temporal = client.workflow;
  const proxy = await startTemporalProxy(
    { address, client },
    {
      handOver: (task) => atTask(task, 'handed over'),
      report: (task) => atTask(task, 'reported'),
    },
  );
  deployment.defer(() => proxy.stop());
  proxied = proxy.address;
  await Promise.all([startWorker(), deployment.start('server')]);
  // The server's tools are learnt.
  await say(deployment.client('alice'), 'hello').end();
  server.play(...Object.values(cases).map(() => answerCall));
  await killWorker();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

function answerCall(message: CallMessage, response: ServerResponse): void {
  if (cityOf(message) !== endless) return answer(message, response, done());
  calledEndless.server.resolve();
  const late = done('late');
  void dead.promise.then(() => answer(message, response, late));
}

/** All calls are approved, and the worker dies once each is where its case wants it; then there is another worker. */
async function killWorker(): Promise<void> {
  const alice = deployment.client('alice');
  const sprung: Promise<unknown>[] = [];
  for (const [name, { city, at }] of Object.entries(cases)) {
    const input = JSON.stringify({ city });
    const pair = {
      server: say(alice, `call asking__ask ${input}`),
      own: say(alice, `call book ${input}`),
      plain: say(alice, `call reserve ${input}`),
    };
    turns.set(name, pair);
    for (const tool of kinds) {
      await quiet(pair[tool]);
      sprung.push(trapped(pair[tool], at[tool]));
    }
  }
  const receipts = Promise.all(
    [...turns.values()].flatMap((calls) => kinds.map((kind) => approve(calls[kind]))),
  );
  await Promise.all(sprung);
  await worker.kill('SIGKILL');
  dead.resolve();
  for (const { status } of await receipts) expect(status).toBe('accept');
  await startWorker();
}

/** It waits for its approval, and nothing is under way. */
async function quiet(turn: Watched): Promise<void> {
  await turn.until((view) => questionsIn(view).length === 1);
  const handle = temporal.getHandle(workflowIdOf(turn));
  await vi.waitFor(async () => expect((await handle.describe()).raw.pendingWorkflowTask).toBeFalsy());
}

function trapped(turn: Watched, at: Point | Promise<unknown>): Promise<unknown> {
  if (typeof at !== 'function') return at;
  const id = workflowIdOf(turn);
  const sprung = Promise.withResolvers<void>();
  traps.add({ fits: (moment) => moment.workflowId.startsWith(id) && at(moment), spring: sprung.resolve });
  return sprung.promise;
}

async function startWorker(): Promise<void> {
  worker = await deployment.start('worker', { TEMPORAL_ADDRESS: proxied });
}

async function approve(turn: Watched) {
  const { conversationId } = turn.message;
  const { elicitationId } = questionsIn(await turn.until((view) => questionsIn(view).length === 1))[0]!;
  return deployment.client('alice').answer({ conversationId, elicitationId, action: 'accept' });
}

const cityOf = ({ params }: CallMessage) => (params.arguments as { city: string }).city;

async function endOf(turn: Watched | undefined) {
  const view = await turn!.end();
  expect(view.status).toBe('completed');
  return {
    said: textOf(view),
    failures: failuresIn(view),
    questions: questionsIn(view).map(({ status }) => status),
  };
}

test.each(Object.keys(cases))(
  '%s: nobody is asked again, the calls are made once, the model reads the truth',
  { timeout: 120_000 },
  async (name) => {
    const { city = '', ends = { server: once, own: once, plain: once } } = cases[name] ?? {};
    const pair = turns.get(name);
    expect(await endOf(pair?.server)).toMatchObject(ends.server);
    expect(await endOf(pair?.own)).toMatchObject(ends.own);
    expect(await endOf(pair?.plain)).toMatchObject(ends.plain);
    expect(server.calls.filter((call) => cityOf(call) === city)).toHaveLength(1);
    expect(booked.filter((booking) => booking === city)).toHaveLength(1);
    expect(booked.filter((booking) => booking === `reserved-${city}`)).toHaveLength(1);
  },
);
