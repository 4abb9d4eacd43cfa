/** What was entered into forms is deleted when its time is up, on both databases, whose clocks the test sets. */
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRetention } from '../../../src/platform/processes/api-process.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DatabaseUnavailable } from '../../../src/storage/transient-errors.ts';
import { postgresUrl } from '../../postgres.ts';
import { begunTurn } from '../../storage/contract/fixtures.ts';
import { answer, formQuestion, open } from '../../storage/contract/question.ts';
import { testFolder } from '../../test-folder.ts';

const dayMs = 24 * 3_600_000;
const retentionMs = 30 * dayMs;

test.each([
  ['SQLite', async () => ({ kind: 'sqlite', path: `${testFolder()}/interlude.db` }) as const],
  ['PostgreSQL', async () => ({ kind: 'postgres', url: await postgresUrl() }) as const],
])(
  '%s: the hourly look deletes what was entered once its turn has been over for 30 days',
  async (_, fresh) => {
    let time = Date.now();
    const storage = await openStorage(await fresh(), { now: () => time });
    onTestFinished(() => storage.close());
    const lines: Record<string, unknown>[] = [];
    const logger = pino(
      {},
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const answered = async () => {
      const turn = await begunTurn(storage);
      const question = formQuestion(turn);
      await open(storage, question);
      await answer(storage, question, 'accept', { responseId: 'r', sealedContent: 'sealed' });
      return { turn, question, content: () => storage.elicitations.recorded(question.id, 'r') };
    };
    const [ended, running] = [await answered(), await answered()];
    await storage.turns.end(ended.turn, 'completed');

    /** What each look of the loop came to. */
    const looks: (number | 'away')[] = [];
    let isAway = false;
    const deleteContent: Storage['elicitations']['deleteContent'] = async (endedBefore) => {
      if (isAway) {
        looks.push('away');
        throw new DatabaseUnavailable(new Error('away'));
      }
      const count = await storage.elicitations.deleteContent(endedBefore);
      looks.push(count);
      return count;
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const elicitations = { ...storage.elicitations, deleteContent };
    const config = {
      elicitation: {
        timeoutMs: 600_000,
        retentionMs,
        maxOpen: 20,
        maxOpenPerTurn: 5,
        maxOpenPerTenant: undefined,
      },
    };
    const retention = startRetention({ storage: { ...storage, elicitations }, config, logger });
    onTestFinished(() => retention.stop());
    /** What the loop comes to in its next look, an hour later. `ms`: how far the database's clock goes on. */
    const nextLook = async (ms: number) => {
      const before = looks.length;
      time += ms;
      await expect
        .poll(() => {
          if (looks.length === before) vi.advanceTimersByTime(3_600_000);
          return looks.length;
        })
        .toBe(before + 1);
      return looks.at(-1);
    };
    await expect.poll(() => looks).toEqual([0]);
    expect(await nextLook(retentionMs - 60_000)).toBe(0);
    expect(await ended.content()).toMatchObject({ sealedContent: 'sealed' });
    isAway = true;
    expect(await nextLook(120_000)).toBe('away');
    isAway = false;
    expect(await nextLook(0)).toBe(1);
    expect(await ended.content()).toMatchObject({ sealedContent: null, isDeleted: true, action: 'accept' });
    expect(await storage.elicitations.get(ended.question.id)).toMatchObject({ status: 'accept' });
    // A turn that goes on needs it.
    expect(await running.content()).toMatchObject({ sealedContent: 'sealed' });
    expect(await nextLook(retentionMs)).toBe(0);
    await retention.stop();
    expect(lines.filter(({ answers }) => answers !== undefined)).toMatchObject([{ answers: 1 }]);
  },
);
