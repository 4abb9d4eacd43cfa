/**
 * Attempts at a tool call after one of them was lost: what the next may do depends on what the first left behind, and
 * on nothing else. The activity as workers run it, on a real database, against a server that counts.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger } from '@temporalio/worker';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHeldCallLimit } from '../../../src/activities/call-tool/held-call-limit.ts';
import { createActivities } from '../../../src/activities/index.ts';
import type { AttemptResult } from '../../../src/turn/step.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { createCatalogue } from '../../../src/remote/catalogue.ts';
import { createModels } from '../../../src/models/provider.ts';
import { openDependencies } from '../../../src/platform/processes/dependencies.ts';
import { roundsAgents } from '../../asking/asking-service.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DatabaseUnavailable } from '../../../src/storage/transient-errors.ts';
import { asks, dies, done, form, page, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../../servers/scripted-mcp-server.ts';
import { answer } from '../../servers/raw-mcp-server.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';
import { answer as answerQuestion } from '../../storage/contract/question.ts';

const toolCallId = 'c1';

async function openCall(...moves: ScriptedReply[]) {
  return openCallOf({}, ...moves);
}

/** `tools`: the only ones that the agent may use. */
async function openCallOf(
  { tools, isReadOnly = false }: { tools?: string[]; isReadOnly?: boolean },
  ...moves: ScriptedReply[]
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-'));
  const server = await startScriptedMcpServer({ annotations: { readOnlyHint: isReadOnly } });
  server.play(...moves);
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  const env = { INTERLUDE_CONFIG: roundsAgents, INTERLUDE_DATA: folder, ASKING_URL: server.url };
  const config = loadConfig(env, folder);
  const { assistant } = Object.fromEntries(config.agents);
  const shorten = (to: string[]) => {
    if (assistant) config.agents.set('assistant', { ...assistant, servers: [{ name: 'asking', tools: to }] });
  };
  if (tools) shorten(tools);
  const parts = await openDependencies(config, logger);
  const { storage } = parts;
  onTestFinished(async () => {
    await server.stop();
    await storage.close();
    await rm(folder, { recursive: true });
  });
  const catalogue = createCatalogue({ storage, remote: parts.remote, logger });
  const prepared = await begunTurn(storage, { tenant: 'demo' });
  const { tenant, conversation, turnId } = prepared;
  const capabilities = { form: true, url: true };
  const limits = { elicitationTimeoutMs: 600_000 };
  const turn = { tenant, conversation, turnId, agent: 'assistant', user: 'alice', capabilities, limits };
  await keptStep(storage, turn, { calls: [{ toolCallId, toolName: 'asking__ask', input: { a: 1 } }] });
  if (isReadOnly) await catalogue.toolsFor(turn, [...config.servers.values()]);

  function activities(changed: Partial<Storage> = {}) {
    return createActivities({
      ...parts,
      storage: { ...storage, ...changed },
      catalogue,
      heldCallLimit: createHeldCallLimit(1),
      models: createModels(config),
    });
  }

  /** `changed`: tables whose functions are replaced. */
  function attempt(
    execution: number,
    count = 1,
    changed: Partial<Storage> = {},
    more: { nextStep?: number } = {},
  ): Promise<AttemptResult> {
    const { callTool } = activities(changed);
    const client = new Client({ connection: Connection.lazy() });
    const environment = new MockActivityEnvironment(
      { attempt: count, startToCloseTimeoutMs: 60 * 60_000, retryPolicy: { maximumAttempts: 5 } },
      { client, logger: new DefaultLogger('ERROR') },
    );
    const input = { turn, toolCallId, server: 'asking', tool: 'ask', execution, ...more };
    return environment.run(callTool, input);
  }

  /** Their user declines all questions that an attempt has asked. */
  async function decline(asked: AttemptResult): Promise<void> {
    if (asked.kind !== 'asks') throw new Error('Nothing was asked.');
    for (const { elicitationId: id } of asked.questions)
      await answerQuestion(storage, { id, tenant, user: 'alice' }, 'decline');
  }

  async function told(): Promise<string> {
    const messages = await storage.messages.list(turn);
    return JSON.stringify(messages.filter(({ role }) => role === 'tool'));
  }

  return { server, storage, turn, activities, attempt, decline, told, shorten, config, catalogue, lines };
}

test('a server that is down is a warning in the log, with where it is and why it was not reached', async () => {
  const { server, attempt, lines, told } = await openCall();
  await server.stop();
  expect(await attempt(0)).toMatchObject({ kind: 'finished' });
  expect(await told()).toContain('cannot be reached');
  const { host } = new URL(server.url);
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({
      level: 40,
      server: 'asking',
      outcome: 'unreachable',
      reason: expect.stringMatching(new RegExp(`${host}.* cannot be reached: nothing is listening there`)),
    }),
  );
});

test('a server without accounts that refuses us is the operator’s to correct, and the log names the setting', async () => {
  const { attempt, lines, told } = await openCall((_, response) => void response.writeHead(401).end());
  expect(await attempt(0)).toMatchObject({ kind: 'finished' });
  expect(await told()).toContain(
    'refuses calls of this service. The tool did not run. Tell the user that the operator',
  );
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ level: 50, server: 'asking', reason: expect.stringContaining('headersEnv') }),
  );
});

test('a call whose server is gone ends, and its name is no label: it may be of a tool that a client had', async () => {
  const { attempt, lines, told, config } = await openCall();
  config.servers.delete('asking');
  expect(await attempt(0)).toEqual({ kind: 'finished' });
  expect(await told()).toContain('There is no server');
  const [line] = lines.map((one) => JSON.parse(one) as object);
  expect(line).toMatchObject({ toolName: 'asking__ask', outcome: 'failed' });
  expect(line).not.toHaveProperty('server');
});

const one = asks({ one: form('One') }, 's1');

function idsIn(result: AttemptResult): string[] {
  return result.kind === 'asks' ? result.questions.map(({ elicitationId }) => elicitationId) : [];
}

test('a worker that dies after the server has asked: the next one knows the question, and does not call again', async () => {
  const { server, attempt } = await openCall(one);
  const first = await attempt(0);
  expect(first).toMatchObject({ kind: 'asks', questions: [{ mode: 'form', askedBy: 'asking' }] });
  const second = await attempt(0, 2);
  expect(idsIn(second)).toEqual(idsIn(first));
  expect(server.calls).toHaveLength(1);
});

test('a worker that dies with the answers under way: nobody sends them again, and the model is told', async () => {
  const { server, storage, turn, attempt, decline, told } = await openCall(one);
  await decline(await attempt(0));
  // All that is left of an attempt that was killed after its request had gone out.
  await storage.toolCalls.start(turn, toolCallId, firstAttempt);
  expect(await attempt(1, 2)).toEqual({ kind: 'finished' });
  expect(await told()).toContain('unknown whether the action took place');
  expect(server.calls).toHaveLength(1);
});

test('of two attempts at once, one sends the answers', async () => {
  const { server, attempt, decline } = await openCall(one);
  await decline(await attempt(0));
  const outcomes = await Promise.all([attempt(1), attempt(1)]);
  expect(outcomes).toEqual([{ kind: 'finished' }, { kind: 'finished' }]);
  expect(server.calls).toHaveLength(2);
});

test('a call that has its result is not made again, whatever is asked of it', async () => {
  const { server, attempt, decline, told } = await openCall(one, done('booked'));
  await decline(await attempt(0));
  expect(await attempt(1)).toEqual({ kind: 'finished' });
  for (const execution of [0, 1, 2]) expect(await attempt(execution, 2)).toEqual({ kind: 'finished' });
  expect(server.calls).toHaveLength(2);
  expect(await told()).toContain('booked');
});

test('answers whose server is away are kept for a later attempt; those that may have arrived are not', async () => {
  const { server, storage, turn, attempt, decline, told } = await openCall(one, dies);
  await decline(await attempt(0));
  await server.leave();
  await expect(attempt(1)).rejects.toThrow('the answers are sent later');
  expect((await storage.toolCalls.get(turn, toolCallId))?.state).toBe('paused');
  expect(await storage.toolCalls.rounds(turn, toolCallId)).toHaveLength(1);
  await server.comeBack();
  expect(await attempt(1, 2)).toEqual({ kind: 'finished' });
  expect(await told()).toContain('unknown whether the action took place');
  expect(server.calls).toHaveLength(2);
});

describe('attempts that were used up while the database was away', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const away = async ({ storage, attempt }: Awaited<ReturnType<typeof openCall>>, execution: number) => {
    const get = () => Promise.reject(new DatabaseUnavailable(refused));
    const toolCalls = { ...storage.toolCalls, get, take: get };
    for (const count of [1, 2, 3])
      await expect(attempt(execution, count, { toolCalls })).rejects.toThrow('ECONNREFUSED');
  };

  test('leave a call that may be repeated its three requests', async () => {
    const open = await openCallOf({ isReadOnly: true }, dies, dies, done('listed'));
    await away(open, 0);
    await expect(open.attempt(0, 4)).rejects.toThrow('the call may be repeated');
    // The activity has no attempt left: the workflow executes another one.
    expect(await open.attempt(0, 5)).toEqual({ kind: 'later' });
    expect(await open.attempt(1)).toEqual({ kind: 'finished' });
    expect(open.server.calls).toHaveLength(3);
    expect(await open.told()).toContain('listed');
  });

  test('do not give it more than three requests', async () => {
    const { attempt, server, told } = await openCallOf({ isReadOnly: true }, dies, dies, dies, done());
    for (const execution of [0, 1])
      await expect(attempt(execution)).rejects.toThrow('the call may be repeated');
    expect(await attempt(2)).toEqual({ kind: 'finished' });
    expect(server.calls).toHaveLength(3);
    expect(await told()).toContain('unknown whether the action took place');
  });

  test('do not lose an answer whose server is away, too', async () => {
    const open = await openCall(one, done('booked'));
    await open.decline(await open.attempt(0));
    await away(open, 1);
    await open.server.leave();
    await expect(open.attempt(1, 4)).rejects.toThrow('the answers are sent later');
    expect(await open.attempt(1, 5)).toEqual({ kind: 'later' });
    await open.server.comeBack();
    expect(await open.attempt(2)).toEqual({ kind: 'finished' });
    expect(await open.told()).toContain('booked');
  });
});

test('a call whose server wants to be asked later says so without a question, and goes on with its state', async () => {
  const { server, attempt, decline } = await openCall(
    asks(undefined, 's1'),
    asks({ p: page('https://example.com') }, 's2'),
  );
  expect(await attempt(0)).toEqual({ kind: 'later' });
  const second = await attempt(1);
  expect(second).toMatchObject({ kind: 'asks', questions: [{ mode: 'url' }] });
  await decline(second);
  expect(await attempt(2)).toEqual({ kind: 'finished' });
  expect(server.calls.map(({ params: { requestState } }) => requestState)).toEqual([undefined, 's1', 's2']);
});

const newerAttempt = { name: 'WriteRefused', reason: 'newer-attempt' };

test('an attempt whose result comes after the next attempt has given the call up does not change what the model reads', async () => {
  const result = Promise.withResolvers<object>();
  const arrived = Promise.withResolvers<void>();
  const { server, storage, turn, attempt, told } = await openCall((message, response) => {
    arrived.resolve();
    void result.promise.then((one) => answer(message, response, one));
  });
  const first = attempt(0).catch((error: unknown) => error);
  await arrived.promise;
  expect(await attempt(0, 2)).toEqual({ kind: 'finished' });
  const before = [await told(), await storage.turnLog.read(turn, 0)];
  result.resolve(done('booked'));
  // The call is finished, and so is the attempt: nobody asks which of them it was.
  expect(await first).toEqual({ kind: 'finished' });
  expect([await told(), await storage.turnLog.read(turn, 0)]).toEqual(before);
  expect(before[0]).toContain('unknown whether the action took place');
  expect(server.calls).toHaveLength(1);
});

test('an attempt that was stopped before it sent anything sends nothing once the next one is at work', async () => {
  const { server, storage, attempt, told } = await openCall(done('booked'));
  const [early, late] = [gate(), gate()];
  const start = (one: ReturnType<typeof gate>): Partial<Storage> => ({
    toolCalls: {
      ...storage.toolCalls,
      start: async (...args) => {
        await one.wait();
        return storage.toolCalls.start(...args);
      },
    },
  });
  const first = attempt(0, 1, start(early)).catch((error: unknown) => error);
  await early.reached;
  const second = attempt(0, 2, start(late));
  await late.reached;
  early.open();
  expect(await first).toMatchObject(newerAttempt);
  expect(server.calls).toHaveLength(0);
  late.open();
  expect(await second).toEqual({ kind: 'finished' });
  expect(server.calls).toHaveLength(1);
  expect(await told()).toContain('booked');
});

/** Something that waits in the middle of its work. */
function gate() {
  const arrival = Promise.withResolvers<void>();
  const opening = Promise.withResolvers<void>();
  return {
    reached: arrival.promise,
    open: () => opening.resolve(),
    wait() {
      arrival.resolve();
      return opening.promise;
    },
  };
}

test('a tool that the agents file does not list for the agent is not called, whoever asks for it', async () => {
  const { server, attempt, told } = await openCallOf({ tools: ['other'] }, done('done'));
  expect(await attempt(0)).toEqual({ kind: 'finished' });
  expect(await told()).toContain('This agent may not use asking__ask, so it did not run.');
  expect(server.calls).toHaveLength(0);
});

test('a call that waits for an answer goes on, though the list has become shorter', async () => {
  const { server, attempt, decline, told, shorten } = await openCallOf({}, one, done('done'));
  await decline(await attempt(0));
  shorten(['other']);
  expect(await attempt(1)).toEqual({ kind: 'finished' });
  expect(await told()).toContain('done');
  expect(server.calls).toHaveLength(2);
});

test('a program that failed a moment ago is not started again, and the model is told at once', async () => {
  const { attempt, told, config, catalogue } = await openCall();
  const asking = config.servers.get('asking');
  if (!asking) throw new Error('The agents file has no such server.');
  const marker = path.join(config.dataDir, 'started');
  const process = { command: 'touch', args: [marker], cwd: config.dataDir, env: {} };
  config.servers.set('asking', { ...asking, credentialScope: 'none', process });
  const trouble = { code: 'process_ended', server: 'Asking (this machine)', how: 'exit code 3' } as const;
  catalogue.backoff.failed(asking, trouble);
  expect(await attempt(0)).toEqual({ kind: 'finished' });
  expect(await told()).toContain("in the worker's log. It was tried a moment ago, and not again.");
  expect(existsSync(marker)).toBe(false);
});

test('a call whose question is still open asks it again, and sends nothing', async () => {
  const { server, attempt } = await openCall(one);
  const first = await attempt(0);
  expect(idsIn(await attempt(1))).toEqual(idsIn(first));
  expect(server.calls).toHaveLength(1);
});

test('a worker that dies between keeping what was asked and opening it: the next one opens it', async () => {
  const { server, storage, attempt, decline } = await openCall(one, done('booked'));
  const dies = () => Promise.reject(new Error('The worker has died.'));
  const elicitations = { ...storage.elicitations, open: dies };
  await expect(attempt(0, 1, { elicitations })).rejects.toThrow('has died');
  const second = await attempt(0, 2);
  expect(idsIn(second)).toHaveLength(1);
  expect(server.calls).toHaveLength(1);
  await decline(second);
  expect(await attempt(1)).toEqual({ kind: 'finished' });
  expect(server.calls).toHaveLength(2);
});

test('a question whose time is up is expired by the next attempt, which goes on without an answer', async () => {
  const { server, storage, turn, attempt, told } = await openCall(one, done('booked'));
  turn.limits.elicitationTimeoutMs = 1;
  const [id = ''] = idsIn(await attempt(0));
  // Not before a millisecond has passed.
  await expect.poll(async () => (await storage.elicitations.read([id]))[0]?.remainingMs).toBe(0);
  expect(await attempt(1)).toEqual({ kind: 'finished' });
  expect((await storage.elicitations.get(id))?.status).toBe('expired');
  expect(server.calls).toHaveLength(2);
  expect(await told()).toContain('expired');
});

test('a call whose question would be one too many ends, and its user is shown no part of the round', async () => {
  const two = asks({ one: form('One'), two: form('Two') }, 's1');
  const { storage, turn, attempt, told, config } = await openCall(two);
  config.elicitation.maxOpen = 1;
  expect(await attempt(0)).toEqual({ kind: 'finished' });
  expect(await told()).toContain('already has too many open ones');
  expect(await storage.elicitations.ofConversation(turn)).toEqual([]);
});

test('a call whose attempts are used up ends as one that did not run, or may have run', async () => {
  const { storage, turn, activities, told } = await openCall(one);
  const { failToolCall } = activities();
  const failed = { turn, toolCallId, server: 'asking' };
  await storage.toolCalls.start(turn, toolCallId, firstAttempt);
  await new MockActivityEnvironment().run(failToolCall, failed);
  expect(await told()).toContain('unknown whether the action took place');
  const untouched = await openCall(one);
  await new MockActivityEnvironment().run(untouched.activities().failToolCall, {
    ...failed,
    turn: untouched.turn,
  });
  expect(await untouched.told()).toContain('could not be called because of a problem on our side');
});

describe('an attempt that goes on with the next step', () => {
  const nextStep = 1;
  const going = { nextStep };

  test('finds the call finished where a worker has died after it, and makes the step', async () => {
    const { server, attempt, storage, turn } = await openCall(done('booked'));
    expect(await attempt(0)).toEqual({ kind: 'finished' });
    const next = { finish: 'stop', toolCalls: [], hasEnded: true };
    expect(await attempt(0, 2, {}, going)).toEqual({ kind: 'finished', next });
    expect(server.calls).toHaveLength(1);
    expect(await storage.turns.get(turn)).toMatchObject({ status: 'completed' });
  });

  test('makes no step when the call asks', async () => {
    const { attempt, storage, turn } = await openCall(one);
    expect(await attempt(0, 1, {}, going)).toMatchObject({ kind: 'asks' });
    expect(await storage.steps.begin(turn, { step: nextStep, attempt: 1 })).toMatchObject({ kind: 'begun' });
  });

  test('makes no step when its turn is about to end', async () => {
    const arrived = Promise.withResolvers<void>();
    const { attempt, storage, turn, told } = await openCall(() => arrived.resolve());
    const making = attempt(0, 1, {}, going);
    await arrived.promise;
    await storage.turns.cancel(turn);
    expect(await making).toEqual({ kind: 'finished' });
    expect(await told()).not.toBe('[]');
    expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
  });

  test('keeps the result of the call when the database cannot keep the step', async () => {
    const { attempt, storage, turn, told } = await openCall(done('booked'));
    const keep = () => Promise.reject(new Error('no room'));
    const steps = { ...storage.steps, keep };
    expect(await attempt(0, 1, { steps }, going)).toEqual({ kind: 'finished' });
    expect(await told()).toContain('booked');
    // The workflow repeats it, with a number that is newer than that of any attempt here.
    const begun = await storage.steps.begin(turn, { step: nextStep, attempt: 6 });
    expect(begun).toEqual({ kind: 'begun', isRepeat: expect.any(Boolean) });
  });
});
