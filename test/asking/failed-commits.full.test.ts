/** A commit that SQLite cannot make: its answer gets no receipt, the question stays open, and the same answer counts later. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { whenNotBusy } from '../../src/storage/sqlite/writer.ts';
import { onPath } from '../programs/find-program.ts';
import { asks, done, form } from '../servers/scripted-mcp-server.ts';
import { untilWaiting } from '../workflows/waiting.ts';
import { city, useAskingService } from './asking-service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'interlude-sqlite-'));
const file = path.join(folder, 'interlude.db');
// After the service, which still has it open.
afterAll(() => rmSync(folder, { recursive: true }));

const setup = useAskingService({ env: { DATABASE_URL: `sqlite:${file}` } });

const prlimit = onPath(['prlimit']);
/** No file of this process may grow beyond so many bytes. */
const limitFiles = (bytes: string) =>
  execFileSync(prlimit ?? '', [`--pid=${process.pid}`, `--fsize=${bytes}:`]);

/** Begins the trouble, and returns what ends it. */
const troubles: Record<string, () => (() => void) | Promise<() => void>> = {
  'the disk takes no more'() {
    limitFiles('1');
    return () => limitFiles('unlimited');
  },
  async 'another process is writing for longer than is waited'() {
    const other = new DatabaseSync(file, { timeout: 0 });
    // A blocking wait would last for ever: the service commits in this thread.
    await whenNotBusy(() => other.exec('begin immediate'));
    return () => {
      other.exec('rollback');
      other.close();
    };
  },
};
const possible = Object.entries(troubles).filter(([name]) => !name.includes('disk') || prlimit);

test.each(possible)(
  '%s: the answer is refused and can be repeated',
  { timeout: 120_000 },
  async (_, begin) => {
    const turn = await setup.begin([asks({ one: form('One') }, 's1'), done('booked')]);
    const { elicitationId } = await turn.question(0);
    await untilWaiting(setup, turn);
    const { elicitations } = setup.service.storage;
    const end = await begin();
    try {
      expect(await turn.answer(0, city())).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(await elicitations.get(elicitationId)).toMatchObject({ status: 'pending', responseId: null });
    } finally {
      end();
    }
    expect(turn.statuses()).toEqual(['pending']);
    expect(setup.server.calls).toHaveLength(1);
    expect(await turn.answer(0, city())).toMatchObject({
      status: 200,
      body: { status: 'accept', duplicate: false },
    });
    expect(await turn.end()).toMatchObject({
      text: 'booked',
      questions: [{ elicitationId, status: 'accept' }],
    });
    expect(setup.server.calls).toHaveLength(2);
  },
);
