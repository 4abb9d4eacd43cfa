/** A process is told by the database whether its keys are the right ones, from the first start on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { lackOfKeys, proveKeys } from '../../../src/credentials/sealing/key-proofs.ts';
import { describeReseal, isDone, reseal } from '../../../src/credentials/sealing/reseal.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { postgresUrl } from '../../postgres.ts';
import { begunTurn, keptStep } from '../../storage/contract/fixtures.ts';
import { form, formQuestion, open } from '../../storage/contract/question.ts';
import { keepAccount, writeOneOfEach } from './sealed-things.ts';

const [k1, k2, k3] = [generateKey('k1'), generateKey('k2'), generateKey('k3')];
const ring = (...keys: string[]) => parseKeys(keys.join(','));
const namesake = parseKeys(generateKey('k1'));
const alice = { tenant: 'acme', server: 'tracker', user: 'alice' };

describe.each(inject('suite') === 'daily' ? (['sqlite'] as const) : (['postgres'] as const))(
  'on %s',
  (kind) => {
    let folder: string;
    let storage: Storage;
    let other: Storage;

    beforeEach(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'interlude-proofs-'));
      const database =
        kind === 'sqlite'
          ? { kind, path: path.join(folder, 'interlude.db') }
          : { kind, url: await postgresUrl() };
      storage = await openStorage(database);
      other = await openStorage(database);
    });
    afterEach(async () => {
      await Promise.all([storage.close(), other.close()]);
      await rm(folder, { recursive: true });
    });

    test('the first process to start settles the keys, before anything is sealed', async () => {
      expect(await proveKeys(storage, ring(k1))).toBeNull();
      expect(await proveKeys(other, ring(k1))).toBeNull();
      expect(await proveKeys(other, ring(k2))).toMatch(/lacks the key "k1"; add it again/);
      expect(await proveKeys(other, namesake)).toMatch(/"k1" has another value than before/);
      expect(await proveKeys(storage, ring(k1))).toBeNull();
    });

    test('of two that start on an empty database with other keys, both never begin, and the right one can', async () => {
      const lacks = await Promise.all([proveKeys(storage, ring(k1)), proveKeys(other, ring(k2))]);
      expect(lacks.filter((lack) => lack === null).length).toBeLessThan(2);
      const again = [await proveKeys(storage, ring(k1)), await proveKeys(other, ring(k2))];
      expect(again.filter((lack) => lack === null)).toHaveLength(1);
    });

    test('a database without proofs is tried by what is sealed in it, in every table', async () => {
      await writeOneOfEach(storage, ring(k1));
      expect(await proveKeys(other, ring(k2))).toMatch(/lacks the key "k1"/);
      expect(await proveKeys(other, namesake)).toMatch(/has another value than before/);
      expect(await other.keyProofs.all()).toEqual([]);
      expect(await proveKeys(other, ring(k2, k1))).toBeNull();
      expect((await other.keyProofs.all()).map(({ keyId }) => keyId)).toEqual(['k1', 'k2']);
      expect(await proveKeys(other, ring(k2))).toMatch(/lacks the key "k1"/);
    });

    test('a few damaged values are not taken for another key', async () => {
      await keepAccount(storage, ring(k1), { ...alice, user: 'a' }, 'token');
      await keepAccount(storage, ring(k1), { ...alice, user: 'b' }, 'token');
      const [damaged] = await storage.sealed.page('connections', { except: [], after: null, limit: 1 });
      const elsewhere = ring(k1).seal('token', 'elsewhere');
      await storage.sealed.replace([{ value: damaged!, sealed: elsewhere }]);
      expect(await proveKeys(storage, ring(k1))).toBeNull();
    });

    test('a key is needed until nothing is sealed with it and everything has been brought to the newest', async () => {
      expect(await proveKeys(storage, ring(k1))).toBeNull();
      await keepAccount(storage, ring(k1), alice, 'token');
      expect(await proveKeys(storage, ring(k1, k2))).toBeNull();
      expect(await proveKeys(storage, ring(k2, k1))).toBeNull();
      expect(await proveKeys(storage, ring(k2))).toMatch(/lacks the key "k1"/);
      await reseal({ storage, keys: ring(k2, k1), dryRun: true });
      expect(await proveKeys(storage, ring(k2))).toMatch(/lacks the key "k1"/);
      await reseal({ storage, keys: ring(k2, k1) });
      expect(await proveKeys(storage, ring(k2))).toBeNull();
    });

    test.each(['an approval', 'a tool in TypeScript'])(
      'a key is needed while a turn with %s goes on, of which Temporal keeps sealed values',
      async (what) => {
        expect(await proveKeys(storage, ring(k1))).toBeNull();
        const turn = await begunTurn(storage);
        const toolName = what === 'an approval' ? 'tracker__close' : 'refund';
        await keptStep(storage, turn, { calls: [{ toolCallId: 'call', toolName, input: {} }] });
        const context = { ...form.context, trigger: 'approval' as const };
        if (what === 'an approval')
          await open(storage, formQuestion(turn, { request: { ...form, context } }));
        expect(await proveKeys(storage, ring(k2, k1))).toBeNull();
        const both = { keys: ring(k2, k1), dryRun: false };
        const report = await reseal({ storage, ...both });
        expect(describeReseal(report, both)).toMatch(/^1 turn has begun[^]*^Still needed: "k1"/m);
        expect(isDone(report, both)).toBe(false);
        expect(await proveKeys(storage, ring(k2))).toMatch(/lacks the key "k1"/);
        await storage.turns.end(turn, 'completed');
        await reseal({ storage, ...both });
        expect(await proveKeys(storage, ring(k2))).toBeNull();
      },
    );

    test('a process that runs hears that another one seals with a key it does not have', async () => {
      expect(await proveKeys(storage, ring(k1))).toBeNull();
      expect(await proveKeys(other, ring(k3, k1))).toBeNull();
      expect(await lackOfKeys(storage, ring(k1))).toMatch(/lacks the key "k3"/);
    });

    test('a key that has been tried and never used can be given up', async () => {
      expect(await proveKeys(storage, ring(k1))).toBeNull();
      await keepAccount(storage, ring(k1), alice, 'token');
      expect(await proveKeys(storage, ring(k2, k1))).toBeNull();
      expect(await proveKeys(storage, ring(k3, k1))).toMatch(/lacks the key "k2"/);
      await reseal({ storage, keys: ring(k3, k1) });
      expect(await proveKeys(storage, ring(k3, k1))).toBeNull();
    });
  },
);
