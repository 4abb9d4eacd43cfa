/** Tools in TypeScript that ask, when an operator resets their workflow, or that of the turn which called them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { accept, asTurn } from '../asking/asking-service.ts';
import type { AskedTurn } from '../asking/asking-service.ts';
import { useService } from '../service/use-service.ts';
import { resetPoints, resetWorkflow } from '../workflows/reset-workflow.ts';
import { idOf, isWaiting } from '../workflows/waiting.ts';
import { bundleTools } from './bundle-tools.ts';

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
beforeEach(() => writeFileSync(notesFile, ''));
/** The effects of the tool. */
const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);

const bundle = await bundleTools();
const used = useService({ tools: { assistant: bundle } });

/** It has asked twice, and has had the effect of its first answer. */
async function begin(): Promise<{ turn: AskedTurn; toolId: string }> {
  const turn = await asTurn(used.alice, randomUUID(), (conversation) =>
    used.alice.chat('call wizard {"steps":2}', { conversation }),
  );
  const { context } = await turn.question(0);
  await turn.answer(0, accept({ word: 'one' }));
  await turn.question(1);
  const toolId = `${idOf(turn)}/tool/${String(context['toolCallId'])}`;
  await expect.poll(() => isWaiting(used, toolId)).toBe(true);
  return { turn, toolId };
}

/** Once more the second question is answered, and both effects have been had, once each. */
async function expectBoth(turn: AskedTurn): Promise<void> {
  expect(await turn.answer(1, accept({ word: 'two' }))).toMatchObject({ status: 200 });
  expect(await turn.end()).toMatchObject({
    text: 'one two',
    error: undefined,
    questions: [{ status: 'accept' }, { status: 'accept' }],
  });
  expect(notes()).toEqual(['1: one', '2: two']);
}
const runIdOf = async (workflowId: string) =>
  (await used.temporal.client.workflow.getHandle(workflowId).describe()).runId;

test.each(resetPoints)('a tool that is reset to its %s task waits for its question again', async (to) => {
  const { turn, toolId } = await begin();
  await resetWorkflow(used.temporal.client, toolId, to);
  await expect.poll(() => isWaiting(used, toolId)).toBe(true);
  await expectBoth(turn);
});

test('a turn that is reset to before its tool has another run of it wait for the question', async () => {
  const { turn, toolId } = await begin();
  const before = await runIdOf(toolId);
  await resetWorkflow(used.temporal.client, idOf(turn), 'first');
  await expect.poll(() => runIdOf(toolId)).not.toBe(before);
  await expect.poll(() => isWaiting(used, toolId)).toBe(true);
  await expectBoth(turn);
});

test('a turn that is reset to after that keeps its tool', async () => {
  const { turn, toolId } = await begin();
  const before = await runIdOf(toolId);
  await resetWorkflow(used.temporal.client, idOf(turn), 'latest');
  await expectBoth(turn);
  expect(await runIdOf(toolId)).toBe(before);
});
