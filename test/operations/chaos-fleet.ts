/** The four processes of a chaos run, which are kept running as an orchestrator does, and what happens to them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readiness } from '../e2e/processes.ts';
import type { Fault } from './chaos-plan.ts';
import type { Checkout } from './checkouts.ts';
import type { Installation, Running } from './installation.ts';

/** Longer than the longest outage. */
const readyWithinMs = 180_000;

export type Fleet = ReturnType<typeof createFleet>;

export function createFleet(at: Installation, first: Checkout, note: (words: string) => void) {
  const places = (['server', 'worker'] as const).flatMap((entry) =>
    ([0, 1] as const).map((place) => ({ entry, place, checkout: first, shiftMs: 0, isExpected: false })),
  );
  type Place = (typeof places)[number];
  const running = (entry: 'server' | 'worker', place: 0 | 1) =>
    (entry === 'server' ? at.apis : at.workers)[place] as Running;
  const now = ({ entry, place }: Place) => running(entry, place);
  const notReady: string[] = [];
  let ended = 0;
  let isStopped = false;
  const launch = (one: Place) => at.launch(one.entry, one.place, one.checkout, one.shiftMs);
  const looking = (async () => {
    for (; !isStopped; await sleep(1_000)) {
      for (const one of places.filter((place) => !now(place).isAlive() && !place.isExpected)) {
        const { code, signal } = await now(one).ended;
        if (signal !== 'SIGKILL') {
          ended++;
          note(`${one.entry} ${one.place} ended by itself (${code ?? signal})`);
        }
        launch(one);
      }
    }
  })();

  async function untilReady(one: Place): Promise<void> {
    for (const deadline = Date.now() + readyWithinMs; Date.now() < deadline; await sleep(200)) {
      const found = now(one);
      const isReady =
        one.entry === 'server'
          ? (await readiness(at.apiUrls[one.place])) === 200
          : found.output().includes('worker ready on task queue');
      if (found.isAlive() && isReady) return;
    }
    const words = `${one.entry} ${one.place} is not ready after ${readyWithinMs / 1000} s`;
    note(words);
    notReady.push(words);
  }

  return {
    ended: () => ended,
    notReady,
    checkout: () => places[0]?.checkout ?? first,
    allReady: () => Promise.all(places.map(untilReady)),
    async stop() {
      isStopped = true;
      await looking;
    },
    running,
    shiftClock(entry: 'server' | 'worker', place: 0 | 1, ms: number) {
      const one = places.find((other) => other.entry === entry && other.place === place);
      if (!one) return;
      one.shiftMs = ms;
      now(one).shiftClock(ms);
    },
    /** One process after the other, workers first. */
    async replaceBy(checkout: Checkout) {
      for (const one of places.toReversed()) {
        one.isExpected = true;
        one.checkout = checkout;
        await now(one).kill('SIGTERM');
        launch(one);
        one.isExpected = false;
        await untilReady(one);
      }
      note(`all run ${checkout.name}`);
    },
  };
}

export async function carryOut(fault: Fault, at: Installation, fleet: Fleet, releases: Checkout[]) {
  const index = releases.indexOf(fleet.checkout());
  switch (fault.kind) {
    case 'Temporal down':
      return at.temporal.away(fault.ms);
    case 'PostgreSQL down':
      return at.database.away(fault.ms, fault.how);
    case 'deploy':
      return fleet.replaceBy(releases[Math.min(index + 1, releases.length - 1)] as Checkout);
    case 'roll back': {
      const before = releases[Math.max(index - 1, 0)] as Checkout;
      if (index > 0) await untilDone(() => at.rollBackTo(before));
      return fleet.replaceBy(before);
    }
    case 'kill':
      return void (await fleet.running(fault.of, fault.place).kill('SIGKILL'));
    case 'freeze': {
      const { pid, isAlive } = fleet.running(fault.of, fault.place);
      if (isAlive()) process.kill(pid, 'SIGSTOP');
      await sleep(fault.ms);
      if (isAlive()) process.kill(pid, 'SIGCONT');
      return;
    }
    case 'cut connections':
      return at.lines.cut(fault.to);
    case 'restart the pooler':
      return at.restartPooler(fault.ms);
    case 'servers away':
      return at.lines.away('servers', fault.ms);
    case 'model away':
      return at.lines.away('model', fault.ms);
    case 'shift a clock':
      return fleet.shiftClock(fault.of, fault.place, fault.minutes * 60_000);
    case 'rotate the password':
      return at.rotatePassword(fault.learntAfterMs);
    default:
      return fault satisfies never;
  }
}

/** An operator repeats a command that could not reach the database. */
async function untilDone(command: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + readyWithinMs; ; await sleep(1_000)) {
    try {
      return await command();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
