/** Servers that are processes of ours, in whole turns: their questions are held, and nothing of them is left behind. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callOf, nthQuestion, questionsIn, respond } from '../service/asking.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import type { Caller } from '../service/user.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/stdio-agents.yaml', import.meta.url));
const accept = (nights: number) => ({ action: 'accept', content: { nights } });

const temporal = useDevelopmentServer();

let folder: string;
let starts: string;
let stack: AsyncDisposableStack;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  folder = await mkdtemp(path.join(tmpdir(), 'stdio-'));
  stack.defer(() => rm(folder, { recursive: true }));
  starts = path.join(folder, 'starts');
  await writeFile(starts, '');
});
afterEach(() => stack.disposeAsync());

async function start(
  era: string,
  more: Record<string, string> = {},
): Promise<{ service: Service; alice: Caller; conversation: string }> {
  const PATH = process.env['PATH'] ?? '';
  const env = { INTERLUDE_CONFIG: agentsFile, STDIO_ERA: era, STDIO_STARTS: starts, PATH, ...more };
  const service = await startService({ temporal, env });
  stack.defer(() => service.stop());
  return { service, alice: await service.as('alice'), conversation: randomUUID() };
}

const pids = async () => (await readFile(starts, 'utf8')).split('\n').filter(Boolean).map(Number);

async function isAlive(pid: number): Promise<boolean> {
  // One that has ended and is not reaped yet is gone for all that matters.
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !/\) Z/.test(state);
}

async function allGone(): Promise<void> {
  const alive = async () => (await Promise.all((await pids()).map(isAlive))).filter(Boolean).length;
  await expect.poll(alive).toBe(0);
}

describe.each(['both', 'old'])('a server of the kind "%s"', (era) => {
  test('is offered to the model and called', async () => {
    const { alice, conversation } = await start(era);
    const turn = await alice.chat(callOf(['echo', { text: 'hello' }]), { conversation });
    await turn.finished();
    expect(turn.text()).toBe('hello');
    await allGone();
  });

  test('asks while it is kept, and gets the answer', async () => {
    const { alice, conversation } = await start(era);
    const turn = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
    const question = await nthQuestion(turn, 0);
    expect(question).toMatchObject({
      mode: 'form',
      message: 'How many nights in Oslo?',
      context: { server: 'asking', serverTitle: 'Files', host: 'this machine', toolName: 'book' },
    });
    expect(await respond(alice, conversation, question, accept(3))).toMatchObject({ status: 200 });
    await turn.finished();
    expect(turn.text()).toBe('booked Oslo for 3');
    await allGone();
  });

  test('is told of a refusal', async () => {
    const { alice, conversation } = await start(era);
    const turn = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
    await respond(alice, conversation, await nthQuestion(turn, 0), { action: 'decline' });
    await turn.finished();
    expect(turn.text()).toBe('not booked');
  });

  test('is told "cancel" of a question that nobody answers in time, and the model what it was', async () => {
    const { alice, conversation } = await start(era, { ELICITATION_TIMEOUT: '2s' });
    const turn = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
    await turn.finished();
    expect(questionsIn(turn)).toMatchObject([{ status: 'expired' }]);
    expect(turn.text()).toMatch(/^not booked\nFiles asked the user .* nobody answered before it expired/);
  });

  test('that dies while people think closes its question, and the model is told', async () => {
    const { alice, conversation } = await start(era);
    const turn = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
    await nthQuestion(turn, 0);
    process.kill((await pids()).at(-1) ?? 0, 'SIGKILL');
    await turn.finished();
    expect(questionsIn(turn)).toMatchObject([{ status: 'cancel' }]);
    expect(turn.text()).not.toContain('booked');
  });

  test('ends with its turn', async () => {
    const { alice, conversation } = await start(era);
    const turn = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
    await nthQuestion(turn, 0);
    expect(await alice.cancel(conversation)).toMatchObject({ status: 200 });
    await turn.finished();
    expect(questionsIn(turn)).toMatchObject([{ status: 'cancel' }]);
    await allGone();
  });

  test('ends with the worker', async () => {
    const { service, alice, conversation } = await start(era);
    const turn = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
    await nthQuestion(turn, 0);
    await service.stop();
    await allGone();
    turn.close();
  });
});

test('a wizard keeps in memory what it needs between its rounds', async () => {
  const { alice, conversation } = await start('modern');
  const turn = await alice.chat(callOf(['wizard']), { conversation });
  for (const n of [0, 1]) await respond(alice, conversation, await nthQuestion(turn, n), accept(n + 1));
  await turn.finished();
  expect(turn.text()).toBe('wizard 1,2,');
  // One to list its tools, one that shows that it does not speak the old era, one for the call and all of its rounds.
  expect(await pids()).toHaveLength(3);
});

test.each(['modern', 'old'])('of the kind "%s" only so many wait for people at once', async (era) => {
  const { alice, conversation } = await start(era, { WORKER_HELD_CALLS: '1' });
  const held = await alice.chat(callOf(['book', { city: 'Oslo' }]), { conversation });
  const question = await nthQuestion(held, 0);
  const refused = await alice.chat(callOf(['book', { city: 'Rome' }]));
  const told = (await refused.finished()).findLast(({ type }) => type === 'tool-output-error');
  expect(told?.['errorText']).toContain('may be tried again later');
  expect(questionsIn(refused)).toEqual([]);
  await respond(alice, conversation, question, accept(3));
  await held.finished();
  expect(held.text()).toBe('booked Oslo for 3');
  await allGone();
});

test('people who call at the same time have processes of their own', async () => {
  const { service, alice } = await start('both');
  const bob = await service.as('bob');
  const callers = [alice, bob, alice, bob];
  const turns = await Promise.all(
    callers.map(async (caller, index) => {
      const conversation = randomUUID();
      const turn = await caller.chat(callOf(['book', { city: `city ${index}` }]), { conversation });
      const question = await nthQuestion(turn, 0);
      expect(question.message).toBe(`How many nights in city ${index}?`);
      return { turn, caller, conversation, question };
    }),
  );
  for (const [index, { caller, conversation, question }] of turns.toReversed().entries())
    await respond(caller, conversation, question, accept(index + 1));
  for (const [index, { turn }] of turns.entries()) {
    await turn.finished();
    expect(turn.text()).toBe(`booked city ${index} for ${4 - index}`);
  }
  await allGone();
});
