/** A copy of the database runs with an empty Temporal, beside the installation that it was taken from. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { kinds } from '../servers/booking-server.ts';
import { startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { beginTurn, chatKinds, completed, expectOpen } from './waiting-turns.ts';

let at: Installation;
beforeAll(async () => {
  at = await startInstallation();
}, 180_000);
afterAll(() => at.stop());

/** The calls that servers were asked to cancel. */
function cancelledCalls(): string[] {
  return kinds.flatMap((kind) =>
    at.desks[kind].requests
      .filter(({ http, method }) => http === 'DELETE' || /cancel/.test(method))
      .map(({ http, method }) => `${kind}: ${http} ${method}`),
  );
}

test(
  'the processes of the copy end no turn, and cancel nothing at the servers that the turns wait for',
  { timeout: 400_000 },
  async ({ onTestFailed }) => {
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    const turns = chatKinds.map((kind) => beginTurn(at, kind, `copied-${kind}`));
    await Promise.all(turns.map((turn) => turn.asked()));
    const url = await at.copyDatabase('restored');
    await at.createNamespace('drill');
    // Whose worker was stopped is called again by another one.
    await expect.poll(() => at.desks.held.called().length, { timeout: 60_000 }).toBe(2);
    const before = cancelledCalls();
    const openTurns = async () =>
      (await at.database.query("SELECT status FROM turns WHERE status = 'running'", 'restored')).length;
    expect(await openTurns()).toBe(turns.length);

    const drill = { DATABASE_URL: url, TEMPORAL_NAMESPACE: 'drill' };
    const copies = [
      ...[0, 1].map(() => at.spawn('worker', drill)),
      ...[await freePort(), await freePort()].map((port) =>
        at.spawn('server', { ...drill, PORT: String(port) }),
      ),
    ];
    // Two looks, 90 s apart, decide whether a turn is lost.
    for (const until = performance.now() + 120_000; performance.now() < until; await sleep(500)) {
      expect(await openTurns()).toBe(turns.length);
      expect(cancelledCalls()).toEqual(before);
    }
    expect(copies.map((copy) => copy.isAlive())).toEqual([true, true, true, true]);
    await Promise.all(copies.map((copy) => copy.kill('SIGTERM')));
    await expectOpen(turns, 1_000);
    for (const turn of turns) expect([200, 202]).toContain((await turn.answer()).status);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
  },
);
