/** Code of tools that changes while calls wait: they go on with the code they began with, new ones begin with the new. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import type { Dependencies } from '../../src/platform/processes/dependencies.ts';
import { readCode } from '../../src/platform/processes/workers/code-workers.ts';
import type { CodeWorkers } from '../../src/platform/processes/workers/code-workers.ts';
import { offerTools } from '../../src/platform/processes/start-worker.ts';
import { startToolWorkers } from '../../src/platform/processes/workers/tool-workers.ts';
import { createTurnWorker } from '../../src/platform/processes/workers/turn-workers.ts';
import type { ToolBundle } from '../../src/platform/tool-bundles/tool-bundle.ts';
import { useService } from '../service/use-service.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { bundleTools, changedTools } from './bundle-tools.ts';

const before = await bundleTools();
const after = await changedTools('Stopped at', 'Left at');
const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
beforeEach(() => writeFileSync(notesFile, ''));
const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);

let parts: Dependencies;
let tools: CodeWorkers;
let stopWorkers: () => Promise<void>;

async function startWorkers(bundle: ToolBundle): Promise<void> {
  const { connection } = used.temporal;
  const started = await startToolWorkers(parts, connection, [bundle]);
  tools = started;
  const approval = { default: 'never', tools: { linger_once: 'always' } } as const;
  const offeredTools = offerTools(new Map([['assistant', { bundle, approval }]]));
  const own = { ...parts, offeredTools, heldCallLimit: createHeldCallLimit(1) };
  const worker = await createTurnWorker(own, connection, { workflowBundle: await workflowBundle() });
  const running = worker.run();
  stopWorkers = async () => {
    worker.shutdown();
    await Promise.all([running, started.stop()]);
  };
}

const used = useService({
  startWorkers: async (given, stack) => {
    parts = given;
    await startWorkers(before);
    stack.defer(() => stopWorkers());
  },
});

async function waiting(conversation: string) {
  const stream = await used.alice.chat('call wizard {"steps":2}', { conversation });
  const { elicitationId } = await stream.question('pending');
  const decline = async () => {
    const answer = { conversationId: conversation, elicitationId, action: 'decline' };
    expect(await used.alice.answer(answer)).toMatchObject({ status: 200 });
    await stream.finished();
    return stream.text();
  };
  return { decline };
}

test('a waiting call goes on with its code, which another process brings back; new calls take the new', async () => {
  const old = await waiting(randomUUID());
  await stopWorkers();
  await startWorkers(after);
  const fresh = await waiting(randomUUID());
  expect(await fresh.decline()).toBe('Left at 1: decline');
  await expect
    .poll(async () => {
      await tools.look();
      return tools.running();
    })
    .toContain(before.hash);
  expect(await old.decline()).toBe('Stopped at 1: decline');

  await expect
    .poll(async () => {
      await tools.look();
      return tools.running();
    })
    .toEqual([after.hash]);
  const kept = await parts.storage.workflowCode.list('tools');
  expect(kept.map(({ id }) => id).toSorted()).toEqual([before.hash, after.hash].toSorted());
});

test('a call that waits for its approval runs with its code, too', async () => {
  const conversation = randomUUID();
  const stream = await used.alice.chat('call linger_once {"line":"Home","ms":0}', { conversation });
  const { elicitationId } = await stream.question('pending');
  await stopWorkers();
  await startWorkers(before);
  await expect
    .poll(async () => {
      await tools.look();
      return tools.running();
    })
    .toContain(after.hash);
  const given = { conversationId: conversation, elicitationId, action: 'accept' };
  expect(await used.alice.answer(given)).toMatchObject({ status: 200 });
  await stream.finished();
  expect(stream.text()).toBe('Home');
  await expect
    .poll(async () => {
      await tools.look();
      return tools.running();
    })
    .toEqual([before.hash]);
});

test('a worker that stops lets a short effect come to its end, and another one goes on with its result', async () => {
  const conversation = randomUUID();
  const stream = await used.alice.chat('call slow_effect {"line":"Home","ms":3000}', { conversation });
  await vi.waitFor(() => expect(notes()).toContain('began Home'));
  await stopWorkers();
  await startWorkers(before);
  await stream.finished();
  expect(stream.text()).toBe('Home');
  expect(notes()).toEqual(['began Home', 'ended Home']);
});

test('code that somebody else has written into the database is not run', async () => {
  const row = await parts.storage.workflowCode.get(after.hash);
  const madeUp = { id: 'made-up', kind: 'tools', needs: 1 } as const;
  await parts.storage.workflowCode.keep({ ...madeUp, sealed: row?.sealed ?? '' });
  const problem = await readCode(parts, 'made-up').catch(String);
  expect(problem).toContain('SealingError');
});
