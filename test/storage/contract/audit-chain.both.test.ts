import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { exportAudit } from '../../../src/cli/audit/export-audit.ts';
import { verifyFile } from '../../../src/cli/audit/verify-audit.ts';
import { startAuditSealing } from '../../../src/platform/loops/audit-sealing.ts';
import type { ChainedEntry } from '../../../src/storage/tables/audit-chain.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { testFolder } from '../../test-folder.ts';
import { query } from '../../setup/postgres-server.ts';
import { onEachDatabase } from '../contract.ts';
import type { DatabaseConfig } from '../contract.ts';
import { openClock } from './clock.ts';

async function deleteContents(database: DatabaseConfig, id: string): Promise<void> {
  if (database.kind === 'postgres')
    return void (await query(database.url, 'delete from audit where id = $1', [id]));
  const file = new DatabaseSync(database.path);
  file.prepare('delete from audit where id = ?').run(id);
  file.close();
}

onEachDatabase((subject) => {
  describe('the chain of the audit', () => {
    const record = (storage: Storage, tenant: string, detail: string) =>
      storage.audit.record({
        at: storage.now(),
        tenant,
        elicitationId: '',
        turnId: randomUUID(),
        actor: 'alice',
        action: 'viewed',
        detail,
        address: null,
      });

    async function exported(storage: Storage, options: Parameters<typeof exportAudit>[1] = {}) {
      const out = new PassThrough();
      const [all] = await Promise.all([text(out), exportAudit(storage, options, out).then(() => out.end())]);
      const lines = all.trimEnd().split('\n');
      const file = path.join(testFolder(), 'audit.ndjson');
      await writeFile(file, all);
      return { file, lines, entries: lines.slice(1, -1).map((line) => JSON.parse(line) as ChainedEntry) };
    }

    const verified = async (lines: string[]) => {
      const file = path.join(testFolder(), 'changed.ndjson');
      await writeFile(file, `${lines.join('\n')}\n`);
      return verifyFile(file, new Map()).then(
        () => 'unchanged',
        (error: Error) => error.message.replace(/^.*ndjson, /, ''),
      );
    };

    test('has every entry once, in order, while several processes write and seal', async () => {
      const { storage, other } = subject();
      const tenant = randomUUID();
      const logger = pino({ level: 'silent' });
      await Promise.all(
        [storage, other].flatMap((one, who) =>
          [1, 2, 3, 4, 5].flatMap((count) => [
            record(one, tenant, `${who}-${count}`),
            one.auditChain.seal(),
            one.auditChain.seal(),
          ]),
        ),
      );
      const loops = [storage, other].map((one) => startAuditSealing({ storage: one, logger }));
      const sealed = async () => {
        let last = 0;
        for await (const { position } of storage.auditChain.read({ tenant })) last = position;
        return last;
      };
      await expect.poll(sealed).toBe(10);
      await Promise.all(loops.map((loop) => loop.stop()));
      const { file, entries } = await exported(other, { tenant });
      expect(entries.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(new Set(entries.map(({ entry }) => entry?.detail)).size).toBe(10);
      expect(await verifyFile(file, new Map())).toEqual([
        { tenant, first: 1, last: 10, deleted: 0, chain: entries[9]?.chain, continues: null },
      ]);
    });

    test('shows what was changed, removed or moved', async () => {
      const { storage } = subject();
      const tenant = randomUUID();
      for (const detail of ['one', 'two', 'three']) {
        await record(storage, tenant, detail);
        await storage.auditChain.seal();
      }
      const { lines } = await exported(storage, { tenant });
      const [header = '', one = '', two = '', three = '', end = ''] = lines;
      const deleted = JSON.stringify({ ...(JSON.parse(two) as object), entry: null });
      expect(await verified(lines)).toBe('unchanged');
      expect(await verified([header, one, deleted, three, '{"entries":3,"deleted":1}'])).toBe('unchanged');
      expect(await verified([header, one, two.replace('two', 'too'), three, end])).toMatch(
        /^line 3: the contents of entry 2 of .* were changed$/,
      );
      expect(await verified([header, one, deleted.replace(/"hash":"./, '"hash":"_'), three, end])).toMatch(
        /^line 3: entry 2 of .* is not the one that was sealed$/,
      );
      expect(await verified([header, one, three, end])).toMatch(
        /^line 3: entry 3 of .* does not follow entry 1/,
      );
      expect(await verified([header, two, one, three, end])).toMatch(
        /^line 3: entry 1 of .* does not follow entry 2/,
      );
      expect(await verified([header, one, two, end])).toMatch(/^line 4: the number of entries is wrong/);
      expect(await verified([header, one, two])).toMatch(/^line 3: the last line is missing/);
      expect(await verified(['{}', one, two, three, end])).toBe('line 1: it is no export of the audit');
    });

    test('stays whole when rows of the audit are deleted', async () => {
      const { storage, database } = subject();
      const tenant = randomUUID();
      for (const detail of ['one', 'two']) await record(storage, tenant, detail);
      await storage.auditChain.seal();
      const before = await exported(storage, { tenant });
      await deleteContents(database, before.entries[0]?.entry?.id ?? '');
      await record(storage, tenant, 'three');
      const after = await exported(storage, { tenant });
      expect(after.entries.map(({ entry }) => entry?.detail)).toEqual([
        undefined,
        expect.anything(),
        'three',
      ]);
      expect(after.lines.join()).not.toContain(before.entries[0]?.entry?.id);
      const known = new Map();
      await verifyFile(before.file, known);
      expect(await verifyFile(after.file, known)).toMatchObject([{ deleted: 1, continues: before.file }]);
    });

    test('is cut by time without a gap, and a later export that was rewritten does not agree with an earlier one', async () => {
      await using clock = await openClock(subject());
      const { storage } = clock;
      const times: number[] = [];
      for (const detail of ['october', 'november', 'december']) {
        times.push(storage.now());
        await record(storage, 'acme', detail);
        await storage.auditChain.seal();
        clock.pass(60_000);
      }
      await record(storage, 'other', 'x');
      const [, november, december] = times;
      const first = await exported(storage, { to: november });
      const second = await exported(storage, { from: november, to: december });
      const all = await exported(storage);
      expect(second.entries.map(({ entry, position }) => [entry?.detail, position])).toEqual([
        ['november', 2],
      ]);
      expect(all.entries.map(({ tenant, position }) => [tenant, position])).toEqual([
        ['acme', 1],
        ['acme', 2],
        ['acme', 3],
        ['other', 1],
      ]);
      const known = new Map();
      await verifyFile(first.file, known);
      expect(await verifyFile(second.file, known)).toMatchObject([{ continues: first.file }]);
      expect(await verifyFile(all.file, known)).toMatchObject([
        { continues: second.file },
        { continues: null },
      ]);

      // Another history of the same length, sealed correctly.
      await using forged = await openClock(subject());
      for (const detail of ['october!', 'november', 'december']) {
        await record(forged.storage, 'acme', detail);
        await forged.storage.auditChain.seal();
      }
      const rewritten = await exported(forged.storage);
      await expect(verifyFile(rewritten.file, known)).rejects.toThrow(
        /the chain of acme differs at position 1/,
      );
    });
  });
});
