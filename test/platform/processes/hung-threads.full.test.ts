/** Threads that cannot go on, made of what Node has alone: as Temporal's SDK makes them, and cuts their code off. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { withoutHungThreads } from '../../../src/platform/processes/workers/hung-threads.ts';

/** Each message is code for a context of its own, which is cut off after some milliseconds. */
const cutsOff = `
  const { createContext, runInContext } = require('node:vm');
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (code) => {
    const context = createContext({}, { microtaskMode: 'afterEvaluate' });
    try { runInContext(code, context, { timeout: 30 }); } catch {}
    parentPort.postMessage('cut off');
  });`;
const loopOfPromises =
  '(async () => { for (;;) await (async () => { throw new Error("no"); })().catch(() => undefined); })()';

function startThread(code: string, silentMs: number) {
  const errors: unknown[] = [];
  const logger = { error: (...logged: unknown[]) => void errors.push(logged) };
  const thread = withoutHungThreads({ logger, silentMs }, () => new Worker(code, { eval: true }));
  const exit = new Promise<'ended'>((resolve) => thread.once('exit', () => resolve('ended')));
  thread.on('error', () => undefined);
  const said = async (what: unknown) => {
    const answer = new Promise<string>((resolve) => thread.once('message', resolve));
    thread.postMessage(what);
    return Promise.race([answer, exit]);
  };
  return { thread, said, errors };
}

test('a thread in which a cut-off is lost ends, so that who waits for its answer hears of it', async () => {
  // Every third cut-off or more is lost, because each promise is rejected before it is handled: with an error that leaves the thread, or without a word.
  for (let lost = 0; lost < 4;) {
    const { said } = startThread(cutsOff, 1_000);
    while ((await said(loopOfPromises)) === 'cut off');
    lost += 1;
  }
});

test('a thread that says nothing and does not rest is ended, and the log says so', async () => {
  const { said, errors } = startThread(
    `require('node:worker_threads').parentPort.once('message', () => { for (;;); });`,
    400,
  );
  expect(await said('loop')).toBe('ended');
  expect(errors).toHaveLength(1);
});

test('a thread that rests is left alone, and so is one that is busy and answers', async () => {
  const { thread, said, errors } = startThread(
    `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (ms) => {
      for (const end = Date.now() + ms; Date.now() < end; );
      parentPort.postMessage('done');
    });`,
    3_000,
  );
  await said(0);
  await sleep(5_000);
  const answers = Array.from({ length: 60 }, () => once(thread, 'message'));
  for (const _ of answers) thread.postMessage(100);
  await Promise.all(answers);
  expect(errors).toEqual([]);
  await thread.terminate();
});
