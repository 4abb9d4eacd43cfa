/** The effect of an author's activity happens once, even when its worker dies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createEffect } from '../../src/activities/durable-tools/effects.ts';
import type { AuthorActivity, EffectCall, EffectResult } from '../../src/activities/durable-tools/effects.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Turn } from '../../src/turn/turn.ts';
import { begunTurn } from '../storage/contract/fixtures.ts';

const file = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-effects-')), 'interlude.db');
afterAll(() => rmSync(path.dirname(file), { recursive: true }));
const storage = await openStorage({ kind: 'sqlite', path: file });
afterAll(() => storage.close());
const keys = parseKeys(generateKey('k1'));

let turn: Turn;
let workflowId: string;
let effects = 0;
let runs = 0;
beforeEach(async () => {
  const ref = await begunTurn(storage);
  turn = { ...ref, agent: 'assistant', user: 'alice', capabilities: { url: true, form: true } };
  workflowId = `turn/${ref.turnId}/tool/call`;
  effects += 1;
  runs = 0;
});

/** One attempt at the same call. */
async function attempt(
  activity: AuthorActivity,
  input: Partial<EffectCall> = {},
  toolEffects = storage.toolEffects,
): Promise<EffectResult> {
  const info = { workflowExecution: { workflowId, runId: 'run' } };
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  const effect = createEffect({ storage: { ...storage, toolEffects }, keys }, 'deletePage', (...args) => {
    runs += 1;
    return activity(...args);
  });
  const call = { turn, toolCallId: 'call' };
  return (await environment.run(effect, {
    call,
    effectId: String(effects),
    args: ['Home'],
    timeoutMs: 1_000,
    isIdempotent: false,
    ...input,
  })) as EffectResult;
}

const claimed = () =>
  storage.toolEffects.claim({ workflowId, activityId: String(effects) }, { turn, name: 'deletePage' });

test('a repeated attempt is given what the first one came to', async () => {
  expect(await attempt((page) => `deleted ${String(page)}`)).toEqual({ kind: 'done', value: 'deleted Home' });
  expect(await attempt(() => 'again')).toEqual({ kind: 'done', value: 'deleted Home' });
  expect(runs).toBe(1);
});

test('what its attempts could not keep is not done again by a later one', async () => {
  const refused = () =>
    Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  const unkept = { ...storage.toolEffects, finish: () => Promise.reject(new Error('given up')) };
  await expect(attempt(() => 'deleted', {}, unkept)).rejects.toThrow('given up');
  const away = { ...unkept, claim: refused };
  await expect(attempt(() => 'deleted', {}, away)).rejects.toThrow('ECONNREFUSED');
  expect(await attempt(() => 'again')).toMatchObject({ kind: 'unknown' });
  expect(runs).toBe(1);
  expect(await attempt(() => 'more', { isIdempotent: true })).toEqual({ kind: 'done', value: 'more' });
  expect(await attempt(() => 'never')).toEqual({ kind: 'done', value: 'more' });
});

test('an error of the author’s is a result, too, and stays the same', async () => {
  const failure = { kind: 'failed', name: 'TypeError', message: 'no such page' };
  const broken = () => {
    throw new TypeError('no such page');
  };
  expect(await attempt(broken)).toEqual(failure);
  expect(await attempt(() => 'again')).toEqual(failure);
  expect(runs).toBe(1);
});

test('one that had begun when its worker died is not repeated, unless its author says that it may', async () => {
  await claimed();
  expect(await attempt(() => 'again')).toMatchObject({ kind: 'unknown' });
  expect(runs).toBe(0);
  expect(await attempt(() => 'again', { isIdempotent: true })).toEqual({ kind: 'done', value: 'again' });
  expect(await attempt(() => 'more')).toEqual({ kind: 'done', value: 'again' });
  expect(runs).toBe(1);
});

test('one that takes too long is unknown, from then on', async () => {
  const never = () => new Promise(() => undefined);
  expect(await attempt(never, { timeoutMs: 20 })).toMatchObject({ kind: 'unknown' });
  expect(await attempt(() => 'again')).toMatchObject({ kind: 'unknown' });
  expect(runs).toBe(1);
});

test('once the tool has ended, nothing but the fact is kept', async () => {
  await attempt(() => 'a secret');
  await storage.toolEffects.forgetResults(workflowId);
  expect(await claimed()).toEqual({ kind: 'finished', sealed: null });
  expect(await attempt(() => 'again')).toMatchObject({ kind: 'unknown' });
});

test('what it returns is sealed in the database', async () => {
  await attempt(() => 'Zanzibar');
  const claim = await claimed();
  expect(claim.kind).toBe('finished');
  expect(JSON.stringify(claim)).not.toContain('Zanzibar');
});
