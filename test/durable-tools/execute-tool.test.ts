/** Attempts at a tool that asks nothing: it runs at most once, even when its worker dies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createExecuteTool } from '../../src/activities/durable-tools/execute-tool.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { DatabaseUnavailable } from '../../src/storage/transient-errors.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { ExecuteContext, PlainTool } from '../../src/turn/tool-code.ts';
import type { AttemptResult } from '../../src/turn/step.ts';
import type { Turn } from '../../src/turn/turn.ts';
import { begunTurn, keptStep } from '../storage/contract/fixtures.ts';

const file = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-plain-')), 'interlude.db');
afterAll(() => rmSync(path.dirname(file), { recursive: true }));
const storage = await openStorage({ kind: 'sqlite', path: file });
afterAll(() => storage.close());

const toolCallId = 'call';
let turn: Turn;
let runs = 0;
beforeEach(async () => {
  const ref = await begunTurn(storage);
  turn = { ...ref, agent: 'assistant', user: 'alice', capabilities: { url: true, form: true } };
  await keptStep(storage, ref, { calls: [{ toolCallId, toolName: 'send', input: { to: 'Ada' } }] });
  runs = 0;
});

interface Attempt {
  attempt?: number;
  tool?: Partial<PlainTool>;
  toolCalls?: Partial<Storage['toolCalls']>;
  environment?: MockActivityEnvironment;
}

const environmentOf = (attempt: number) =>
  new MockActivityEnvironment(
    { attempt, workflowExecution: { workflowId: 'turn', runId: 'run' } },
    { logger: new DefaultLogger('ERROR') },
  );

function execute({
  attempt = 1,
  tool,
  toolCalls,
  environment = environmentOf(attempt),
}: Attempt = {}): Promise<AttemptResult> {
  const send = {
    name: 'send',
    title: 'Send',
    input: z.object({ to: z.string() }),
    timeoutMs: 1_000,
    execute: () => 'sent',
    ...tool,
  } as PlainTool;
  const counted: PlainTool = {
    ...send,
    execute(input, context) {
      runs += 1;
      return send.execute(input, context);
    },
  };
  const { executeTool } = createExecuteTool(
    {
      storage: { ...storage, toolCalls: { ...storage.toolCalls, ...toolCalls } },
      keys: parseKeys(generateKey('k1')),
      // Only approvals need it.
      config: {} as never,
      logger: pino({ level: 'silent' }),
      storeOf: () => {
        throw new Error('No account is needed.');
      },
    },
    new Map([['send', counted]]),
  );
  const limits = { elicitationTimeoutMs: 60_000 };
  const input = { turn: { ...turn, limits }, toolCallId, execution: 0 };
  return environment.run(executeTool, input) as Promise<AttemptResult>;
}

/** What the model reads. */
async function result(): Promise<string> {
  const messages = await storage.messages.list(turn);
  return JSON.stringify(messages.at(-1)?.content);
}

const died = { finish: () => Promise.reject(new Error('killed')) };

test('a later attempt of a finished call runs nothing', async () => {
  expect(await execute()).toEqual({ kind: 'finished' });
  expect(await execute({ attempt: 2 })).toEqual({ kind: 'finished' });
  expect(runs).toBe(1);
  expect(await result()).toContain('sent');
});

test('a later attempt does not repeat what had begun, and says that its outcome is unknown', async () => {
  await expect(execute({ toolCalls: died })).rejects.toThrow('killed');
  expect(await execute({ attempt: 2 })).toEqual({ kind: 'finished' });
  expect(runs).toBe(1);
  expect(await result()).toContain('it is unknown whether the action took place');
});

test('a later attempt repeats what its author calls idempotent', async () => {
  const tool = { idempotent: true };
  await expect(execute({ tool, toolCalls: died })).rejects.toThrow('killed');
  expect(await execute({ attempt: 2, tool })).toEqual({ kind: 'finished' });
  expect(runs).toBe(2);
  expect(await result()).toContain('sent');
});

test('an attempt that comes back after a later one has taken the call leaves nothing', async () => {
  const isSlow = Promise.withResolvers<string>();
  const first = execute({ tool: { execute: () => isSlow.promise } });
  await expect.poll(() => runs).toBe(1);
  expect(await execute({ attempt: 2 })).toEqual({ kind: 'finished' });
  isSlow.resolve('late');
  await expect(first).resolves.toEqual({ kind: 'finished' });
  expect(await result()).toContain('unknown');
  expect(await result()).not.toContain('late');
});

test('the result is kept where the database was away for a moment', async () => {
  let refused = 2;
  const toolCalls: Partial<Storage['toolCalls']> = {
    finish: (...given) =>
      refused-- > 0
        ? Promise.reject(new DatabaseUnavailable(new Error('connect ECONNREFUSED')))
        : storage.toolCalls.finish(...given),
  };
  expect(await execute({ toolCalls })).toEqual({ kind: 'finished' });
  expect(await result()).toContain('sent');
  expect(runs).toBe(1);
});

test('what its schema throws is a result, and nothing runs', async () => {
  const input = z.object({
    to: z.string().transform((to): string => {
      throw new Error(`no ${to}`);
    }),
  });
  expect(await execute({ tool: { input } })).toEqual({ kind: 'finished' });
  expect(await result()).toContain('Send failed: no Ada');
  expect(runs).toBe(0);
});

test('when its worker shuts down, the tool is stopped and its outcome is left to the next attempt', async () => {
  const environment = environmentOf(1);
  const stopping = execute({
    environment,
    tool: {
      execute: (_: unknown, { signal }: ExecuteContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
        }),
    },
  });
  await expect(stopping).rejects.toThrow('WORKER_SHUTDOWN');
  await execute({ attempt: 2 });
  expect(await result()).toContain('unknown');
});
