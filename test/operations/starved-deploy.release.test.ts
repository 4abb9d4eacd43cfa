/** A worker with a tenth of a core is replaced by another one, while everything that waited is answered at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCheckout } from './checkouts.ts';
import { startInstallation } from './installation.ts';
import type { Installation, Running } from './installation.ts';
import { beginTurn, completed } from './waiting-turns.ts';

/** On 2026-11-28, 480 of one kind took 118 s from the first answer to the last end, and 240 of these 92 s. */
const count = 120;
const kinds = ['form', 'round', 'held', 'approval', 'tool', 'delegate'] as const;

let at: Installation;
let next: ReturnType<typeof createCheckout>;
beforeAll(async () => {
  next = createCheckout(1);
  at = await startInstallation({ env: { SHUTDOWN_GRACE_PERIOD: '60s' } });
}, 300_000);
afterAll(async () => {
  await at.stop();
  next[Symbol.dispose]();
});

/** Until it is disposed or ends, the process runs for 20 of every 200 ms. */
function starve({ pid, isAlive }: Running): Disposable {
  let isOver = false;
  const send = (signal: 'SIGSTOP' | 'SIGCONT') => isAlive() && process.kill(pid, signal);
  void (async () => {
    for (; !isOver && isAlive(); await sleep(20)) {
      send('SIGSTOP');
      await sleep(180);
      send('SIGCONT');
    }
  })();
  return {
    [Symbol.dispose]() {
      isOver = true;
      send('SIGCONT');
    },
  };
}

test(
  'each call is made once, each answer arrives, and no turn fails',
  { timeout: 600_000 },
  async ({ onTestFailed }) => {
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    await at.workers[1]?.kill('SIGTERM');
    const turns = Array.from({ length: count }, (_, n) =>
      beginTurn(at, kinds[n % kinds.length] ?? 'round', `city-${n}`, { place: n % 2 === 0 ? 0 : 1 }),
    );
    await Promise.all(turns.map((turn) => turn.asked()));

    const old = at.workers[0]!;
    using _old = starve(old);
    const answers = turns.map((turn, n) => turn.answer(n % 2 === 0 ? 1 : 0));
    // It has begun to call.
    await expect.poll(() => at.desks.rounds.done.length, { timeout: 120_000 }).toBeGreaterThan(0);
    const ended = old.kill('SIGTERM');
    using _new = starve(at.launch('worker', 1, next, 0));
    for (const { status } of await Promise.all(answers)) expect([200, 202]).toContain(status);
    for (const turn of turns) await turn.turn.end(400_000);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
    expect(await ended).toMatchObject({ code: 0 });
  },
);
