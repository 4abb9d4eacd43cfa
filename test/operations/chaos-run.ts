/**
 * One chaos run: turns of every kind wait, faults happen as planned, and people answer and ask meanwhile. At the end every
 * turn is checked: was it lost, was its effect done twice, and was its receipt true?
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readiness } from '../e2e/processes.ts';
import { pick, planOf, randomFrom, shuffled, toWords } from './chaos-plan.ts';
import type { Fault, PlanOptions } from './chaos-plan.ts';
import type { Checkout } from './checkouts.ts';
import { startInstallation } from './installation.ts';
import type { Installation, Running } from './installation.ts';
import { beginByA2A, beginByMcp, startWorkspace } from './other-surfaces.ts';
import type { SlackWorkspace } from './other-surfaces.ts';
import { beginTurn, chatKinds, completed, doneAbout } from './waiting-turns.ts';
import type { Ended, Kind, WaitingTurn } from './waiting-turns.ts';
import type { Reply } from '../service/user.ts';

/** The results of chaos runs as a table. */
export const tableHead = [
  '| seed | what happened | turns | lost | done twice | false receipts | not ready again | outcome unknown, and told so | processes that ended | took |',
  '|---|---|---|---|---|---|---|---|---|---|',
].join('\n');

export function toRow(result: ChaosResult): string {
  const { seed, sequence, turns, lost, twice, falseReceipts, notReady, unknown, ended, seconds } = result;
  const counts = [turns, lost.length, twice.length, falseReceipts.length, notReady.length, unknown, ended];
  return `| ${seed} | ${sequence} | ${counts.join(' | ')} | ${seconds} s |`;
}

/** With what is needed to find out why. */
export function problemsOf({
  seed,
  lost,
  twice,
  falseReceipts,
  notReady,
  timeLine,
  log,
}: ChaosResult): string {
  const list = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  const found = [
    ...list('lost', lost),
    ...list('done twice', twice),
    ...list('false receipts', falseReceipts),
    ...list('not ready', notReady),
  ];
  return [`seed ${seed}`, ...found, 'time line:', ...timeLine, 'log:', log].join('\n');
}

/** What must be empty. */
export function faultsOf({ lost, twice, falseReceipts, notReady }: ChaosResult) {
  return { lost, twice, falseReceipts, notReady };
}

export const noFaults = { lost: [], twice: [], falseReceipts: [], notReady: [] };

interface ChaosOptions extends PlanOptions {
  seed: number;
  turns: number;
  /** Oldest first; it begins with the first. */
  releases: [Checkout, ...Checkout[]];
}

type ChaosResult = Awaited<ReturnType<ReturnType<typeof createRun>>>;

const kinds: Kind[] = [...chatKinds, 'slack', 'a2a', 'mcp'];
/** The longest wait once everything runs again. */
const answeredWithinMs = 180_000;
/** Longer than the longest outage. */
const readyWithinMs = 120_000;

export async function runChaos(options: ChaosOptions) {
  await using stack = new AsyncDisposableStack();
  const slack = await startWorkspace();
  stack.defer(() => slack.stop());
  const [first] = options.releases;
  const at = await startInstallation({ env: slack.env, checkout: first, secrets: 'file' });
  stack.defer(() => at.stop());
  const run = createRun(at, slack, options, stack);
  try {
    return await run();
  } catch (error) {
    process.stderr.write(`${at.log()}\nseed ${options.seed} ended early: ${String(error)}\n`);
    throw error;
  }
}

interface Begun {
  turn: WaitingTurn;
  receipt?: Promise<Reply>;
}

function createRun(
  at: Installation,
  slack: SlackWorkspace,
  options: ChaosOptions,
  stack: AsyncDisposableStack,
) {
  const { seed, turns: count, releases } = options;
  const startedAt = Date.now();
  const timeLine: string[] = [];
  const note = (words: string) => void timeLine.push(`${seconds(startedAt)} ${words}`);
  // Apart from the plan: how many answers there are changes nothing in it.
  const random = randomFrom(seed ^ 0x5f_37_59_df);
  const all: Begun[] = [];
  const fleet = createFleet(at, releases[0], note);
  stack.defer(() => fleet.stop());

  function begin(kind: Kind): Promise<WaitingTurn> {
    const city = `c${all.length}-${kind}`;
    switch (kind) {
      case 'slack':
        return slack.begin(at, city);
      case 'a2a':
        return beginByA2A(at, city);
      case 'mcp':
        return beginByMcp(at, city);
      default:
        return Promise.resolve(beginTurn(at, kind, city, pick(random, [0, 1] as const)));
    }
  }

  /** Answers are sent again until there is a definite word: as people do, and programs. */
  async function answer({ turn }: Begun): Promise<Reply> {
    for (const deadline = Date.now() + 300_000; ; await sleep(500)) {
      const reply = await turn
        .answer(pick(random, [0, 1] as const))
        .catch((error: unknown) => error as Error);
      const isDefinite = 'status' in reply && reply.status < 500 && reply.status !== 429;
      if (isDefinite) {
        note(`${turn.city} answered: ${reply.status}`);
        return reply;
      }
      if (Date.now() > deadline) throw new Error(`${turn.city} could not be answered`, { cause: reply });
    }
  }

  async function work(left: number): Promise<void> {
    const open = all.filter(({ receipt }) => receipt === undefined);
    const some = Math.ceil(open.length / (left + 2));
    for (const begun of shuffled(random, open).slice(0, some)) {
      begun.receipt = answer(begun);
      begun.receipt.catch(() => undefined);
    }
    // Once her account is connected, no turn asks for it.
    const kind = pick(
      random,
      chatKinds.filter((one) => one !== 'account'),
    );
    all.push({ turn: await begin(kind) });
    note(`new turn ${all.at(-1)?.turn.city}`);
  }

  return async () => {
    await slack.link(at);
    for (let index = 0; index < count; index++)
      all.push({ turn: await begin(kinds[index % kinds.length] ?? 'round') });
    await Promise.all(all.map(({ turn }) => turn.asked()));
    note(`${count} turns wait`);
    const plan = planOf(seed, options);
    for (const [index, { faults, workAfterMs }] of plan.entries()) {
      note(`▶ ${faults.map(toWords).join(' + ')}`);
      const meanwhile = sleep(workAfterMs).then(() => work(plan.length - index - 1));
      await Promise.all([meanwhile, ...faults.map((fault) => carryOut(fault, at, fleet, releases))]);
      note(`◀ ${faults.map(({ kind }) => kind).join(' + ')}`);
    }
    await fleet.allReady();
    note('everything runs');
    for (const begun of all) begun.receipt ??= answer(begun);
    const looks = await Promise.all(all.map((begun) => lookAt(at, begun)));
    await fleet.stop();
    const failed = (what: keyof Look) => looks.flatMap((look) => look[what] ?? []);
    return {
      seed,
      sequence: plan.map(({ faults }) => faults.map(toWords).join(' + ')).join('; '),
      turns: all.length,
      /** Did not end as they should have. */
      lost: failed('lost'),
      /** Deeds that were done more than once. */
      twice: failed('twice'),
      /** Answers that took effect although they were refused, or did not although they were taken. */
      falseReceipts: failed('falseReceipt'),
      /** Processes that were not ready although everything that they need was there. */
      notReady: fleet.notReady,
      /** Turns whose model was correctly told that the outcome is unknown. */
      unknown: failed('unknown').length,
      /** Processes that ended by themselves. */
      ended: fleet.ended(),
      seconds: Math.round((Date.now() - startedAt) / 1000),
      timeLine,
      log: at.log(),
    };
  };
}

type Look = Partial<Record<'lost' | 'twice' | 'falseReceipt' | 'unknown', string>>;

async function lookAt(at: Installation, { turn, receipt }: Begun): Promise<Look> {
  const { city, kind } = turn;
  const told = await receipt?.catch((error: unknown) => ({ status: 0, body: { error: String(error) } }));
  const late = sleep(answeredWithinMs, undefined, { ref: false }).then(() => {
    throw new Error('it does not end');
  });
  const ended: Ended = await Promise.race([turn.ended(), late]).catch((error: unknown) => ({
    status: 'lost',
    said: String(error).slice(0, 300),
    questions: [],
    done: doneAbout(at, turn),
  }));
  const words = `${city}: told ${told?.status} ${JSON.stringify(told?.body)}, ended ${JSON.stringify(ended)}`;
  const isTaken = told !== undefined && told.status >= 200 && told.status < 300;
  const wanted = completed(turn);
  const isUnknown = ended.status === 'completed' && /unknown|cannot tell whether/.test(ended.said);
  const isDone = ended.status === 'completed' && ended.said === wanted.said && ended.done.length > 0;
  // Its server declares that twice is as good as once.
  const mostDeeds = kind === 'held' ? 2 : 1;
  return {
    ...(ended.done.length > mostDeeds && { twice: words }),
    ...(isUnknown && { unknown: words }),
    ...(!isDone && !isUnknown && isTaken && { lost: words }),
    ...(!isTaken && ended.done.length > 0 && { falseReceipt: words }),
    ...(isTaken && !isUnknown && ended.questions[0] !== 'accept' && { falseReceipt: words }),
    // Nothing in these runs closes a question: a refused answer is one that was lost.
    ...(!isTaken && ended.done.length === 0 && { lost: words }),
  };
}

type Fleet = ReturnType<typeof createFleet>;

/** Keeps four processes running, as an orchestrator does. */
function createFleet(at: Installation, first: Checkout, note: (words: string) => void) {
  const places = (['server', 'worker'] as const).flatMap((entry) =>
    ([0, 1] as const).map((place) => ({ entry, place, checkout: first, shiftMs: 0, isExpected: false })),
  );
  type Place = (typeof places)[number];
  const now = ({ entry, place }: Place) => (entry === 'server' ? at.apis : at.workers)[place] as Running;
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
      const running = now(one);
      const isReady =
        one.entry === 'server'
          ? (await readiness(at.apiUrls[one.place])) === 200
          : running.output().includes('worker ready on task queue');
      if (running.isAlive() && isReady) return;
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
    kill: (place: 0 | 1) => at.workers[place]?.kill('SIGKILL'),
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

async function carryOut(fault: Fault, at: Installation, fleet: Fleet, releases: Checkout[]): Promise<void> {
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
    case 'kill a worker':
      return void (await fleet.kill(fault.place));
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

const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1).padStart(7)} s`;
