/** Workers of several versions on one task queue, and turns that wait for people meanwhile: a service per test. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Dependencies } from '../../../src/platform/processes/dependencies.ts';
import { startWorker } from '../../../src/platform/processes/start-worker.ts';
import { readTurnCode } from '../../../src/platform/processes/workers/turn-code.ts';
import { contract } from '../../../src/workflows/contract.ts';
import type { DevelopmentServer } from '../../development-server.ts';
import type { Service } from '../../service/service.ts';
import { useService } from '../../service/use-service.ts';
import type { Caller } from '../../service/user.ts';
import { idOf } from '../../workflows/waiting.ts';

/** Inside the checkout: that is where bundled packages are found. */
const folder = path.resolve(import.meta.dirname, `../../../build/test-${randomUUID()}`);
/** Its first command is one that a turn of today does not begin with. */
const changedSource = `
import { upsertMemo } from '@temporalio/workflow';
import { agentTurn as unchanged } from '../../src/workflows/agent-turn.ts';
export async function agentTurn(turn) {
  upsertMemo({ changed: true });
  return unchanged(turn);
}`;

type Code = 'today' | 'changed';

export const temporal = {} as DevelopmentServer;
export const service = {} as Service;
export const alice = {} as Caller;
export let parts: Dependencies;
export let deploymentName: string;
let workers: AsyncDisposableStack[];
let code: Record<Code, string>;

/** For the tests of the file that calls it. `changed`: other code than a turn that begins differently; `env`: more settings. */
export function useVersionedWorkers({
  changed: source = changedSource,
  env = () => ({}),
  startsHere,
}: {
  changed?: string;
  env?: () => Record<string, string>;
  startsHere?: (buildId: string) => boolean;
} = {}): void {
  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'index.ts'), source);
    const changed = await readTurnCode({ entry: path.join(folder, 'index.ts') });
    code = { today: (await readTurnCode()).code, changed: changed.code };
  }, 90_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  useService({
    per: 'test',
    into: { temporal, service, alice },
    needs: async () => ({ env: env() }),
    isVersioned: true,
    ...(startsHere && { startsHere }),
    async startWorkers(given, stack) {
      workers = [];
      parts = given;
      deploymentName = given.config.temporal.taskQueue;
      stack.defer(async () => {
        await Promise.all(workers.map((worker) => worker.disposeAsync()));
      });
    },
  });
}

type Version = AsyncDisposableStack & Awaited<ReturnType<typeof startWorker>>;

/** Starts what a worker process runs. Resolves once the version was current; `current`: what becomes current instead. */
export async function startVersion(buildId: string, isOf: Code, current = buildId): Promise<Version> {
  const stack = new AsyncDisposableStack();
  workers.push(stack);
  const started = await startWorker(
    parts,
    {
      connection: temporal.connection,
      client: temporal.client,
      code: { buildId, code: code[isOf], needs: contract.needs },
      tools: new Map(),
      isAlone: false,
    },
    stack,
  );
  const { versions } = parts.storage;
  await expect
    .poll(async () => (await versions.list(deploymentName)).map((version) => version.buildId))
    .toContain(current);
  return Object.assign(stack, started);
}

export async function waitingTurn() {
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation });
  const question = await stream.question('pending');
  const handle = temporal.client.workflow.getHandle(idOf({ conversation, stream }));
  return {
    conversation,
    stream,
    elicitationId: question.elicitationId,
    handle,
    isChanged: async () => (await handle.describe()).memo?.['changed'] === true,
    decline: () =>
      alice.answer({
        conversationId: conversation,
        elicitationId: question.elicitationId,
        action: 'decline',
      }),
  };
}
