/** The database's password is changed while turns wait; the workers learn of it late. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { beginTurn, chatKinds, completed, expectOpen } from './waiting-turns.ts';

let at: Installation;
beforeAll(async () => {
  at = await startInstallation();
}, 180_000);
afterAll(() => at.stop());

test(
  'answers that APIs take with the new password take effect once the workers have it',
  { timeout: 400_000 },
  async ({ onTestFailed }) => {
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    const turns = chatKinds.map((kind) => beginTurn(at, kind, `rotated-${kind}`));
    await Promise.all(turns.map((turn) => turn.asked()));
    await at.database.rotatePassword();
    await Promise.all([at.startApi(0), at.startApi(1)]);
    for (const turn of turns) expect([200, 202]).toContain((await turn.answer()).status);
    // Longer than any number of attempts lasts.
    await expectOpen(turns, 60_000);
    await Promise.all([at.startWorker(0), at.startWorker(1)]);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
  },
);
