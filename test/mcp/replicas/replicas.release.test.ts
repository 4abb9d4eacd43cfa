/**
 * Wizards over two APIs that are asked by turns, in each way of asking: many at once, then with everything that holds them
 * killed or frozen in the middle of a question. None is stuck, none is done twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { showOutput } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { startReplicas } from './replicas.ts';
import type { Replicas } from './replicas.ts';
import { ways, wordsOf } from './ways-of-asking.ts';
import type { Wizard } from './ways-of-asking.ts';

type Way = keyof typeof ways;

let replicas: Replicas;
let count = 0;

beforeAll(async () => {
  replicas = await startReplicas();
}, 120_000);
beforeEach(() => replicas.startTheDead(), 60_000);
afterAll(() => replicas.stop());
afterEach(showOutput(() => replicas.deployment));

const allWays = Object.keys(ways) as Way[];

interface Run extends Omit<Wizard, 'id'> {
  /** The API that its first request goes to. */
  first?: 0 | 1;
}

/** One user, one call, from its first question to its result. */
async function runWizard(way: Way, { first = 0, ...wizard }: Run) {
  const id = `${way.replace(' ', '-')}-${++count}`;
  const text = await ways[way](replicas.line(`user-${id}`, first), { id, ...wizard });
  const { calls, ends } = replicas.wizards;
  expect({ id, text, calls: calls(id), ends: ends(id) }).toEqual({
    id,
    text: wordsOf(wizard),
    calls: wizard.steps + 1,
    ends: 1,
  });
}

test('forty wizards of ten steps in each way of asking', { timeout: 480_000 }, async () => {
  const atOnce = 8;
  await Promise.all(
    allWays.map(async (way) => {
      let left = 40;
      const oneAfterTheOther = async () => {
        while (left-- > 0) await runWizard(way, { steps: 10 });
      };
      await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther));
    }),
  );
});

/** In each way, by way of each API, a wizard whose second question is open when it happens. */
async function whileAllAsk(what: () => Promise<unknown>): Promise<void> {
  const runs = allWays.flatMap((way) => ([0, 1] as const).map((first) => ({ way, first })));
  const open = new Set<string>();
  let hasBegun = false;
  const happened = Promise.withResolvers<unknown>();
  await Promise.all(
    runs.map(({ way, first }) =>
      runWizard(way, {
        steps: 4,
        first,
        // It may be shown again, after its stream broke off.
        async atStep(step) {
          if (step !== 2) return;
          open.add(`${way} ${first}`);
          if (open.size === runs.length && !hasBegun) {
            hasBegun = true;
            what().then(happened.resolve, happened.reject);
          }
          await happened.promise;
        },
      }),
    ),
  );
}

test('an API and every worker are killed', { timeout: 180_000 }, async () => {
  const { apis, workers } = replicas;
  await whileAllAsk(async () => {
    await Promise.all([...apis.slice(0, 1), ...workers].map((one) => one.kill('SIGKILL')));
    void replicas.startTheDead();
  });
});

async function freeze(frozen: ServiceProcess[], ms: number): Promise<void> {
  for (const { pid } of frozen) process.kill(pid, 'SIGSTOP');
  await delay(ms);
  for (const { pid, isAlive } of frozen) if (isAlive()) process.kill(pid, 'SIGCONT');
}

test('an API stands still for a while, with the streams that it has', { timeout: 180_000 }, async () => {
  await whileAllAsk(async () => void freeze(replicas.apis.slice(0, 1), 10_000));
});

test(
  'every worker stands still for a minute, and people answer meanwhile',
  { timeout: 240_000 },
  async () => {
    await whileAllAsk(async () => void freeze([...replicas.workers], 60_000));
  },
);

test('a worker stands still for good, and the other one takes over', { timeout: 180_000 }, async () => {
  const frozen = replicas.workers[0]!;
  await whileAllAsk(async () => process.kill(frozen.pid, 'SIGSTOP'));
  await frozen.kill('SIGKILL');
});
