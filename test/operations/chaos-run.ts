/**
 * One chaos run: turns of every kind wait, faults happen as planned, and users answer, decline, change their minds, come
 * back and ask meanwhile. At the end every turn is checked: was it lost, was its effect done twice, was its receipt true?
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { carryOut, createFleet } from './chaos-fleet.ts';
import { pick, planOf, randomFrom, shuffled, toWords } from './chaos-plan.ts';
import type { Fault, PlanOptions, Step } from './chaos-plan.ts';
import type { Checkout } from './checkouts.ts';
import { startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { beginByA2A, beginByAgUi, beginByMcp, beginByOpenAI, startWorkspace } from './other-surfaces.ts';
import type { SlackWorkspace } from './other-surfaces.ts';
import { beginTurn, chatKinds, completed, doneAbout } from './waiting-turns.ts';
import type { Action, ChatKind, ChatTurn, Ended, Kind, WaitingTurn } from './waiting-turns.ts';
import type { Reply } from '../service/user.ts';

interface ChaosOptions extends PlanOptions {
  seed: number;
  turns: number;
  /** Oldest first; it begins with the first. */
  releases: [Checkout, ...Checkout[]];
}

export type ChaosResult = Awaited<ReturnType<ReturnType<typeof createRun>>>;

const kinds: Kind[] = [...chatKinds, 'slack', 'a2a', 'mcp', 'openai', 'ag-ui'];
/** Once her account is connected, no turn asks for it. */
const newKinds = kinds.filter((kind) => kind !== 'account');
/** The longest wait once everything runs again. */
const answeredWithinMs = 120_000;
const triesForMs = 300_000;
const agentsFile = path.resolve(import.meta.dirname, '../fixtures/chaos-agents.yaml');

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  await using stack = new AsyncDisposableStack();
  const slack = await startWorkspace();
  stack.defer(() => slack.stop());
  const [first] = options.releases;
  const env = { ...slack.env, INTERLUDE_CONFIG: agentsFile };
  const at = await startInstallation({ env, checkout: first, secrets: 'file', isWired: true });
  stack.defer(() => at.stop());
  const run = createRun(at, slack, options, stack);
  try {
    return await run();
  } catch (error) {
    process.stderr.write(`${at.log()}\nseed ${options.seed} ended early: ${String(error)}\n`);
    throw error;
  }
}

/** What the user did about a turn's question. */
type Act = Action | 'supersede';

interface Begun {
  turn: WaitingTurn;
  act?: Act;
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
  const beginning: Promise<unknown>[] = [];
  const fleet = createFleet(at, releases[0], note);
  stack.defer(() => fleet.stop());
  let named = 0;
  const newCity = (kind: Kind) => `c${named++}-${kind}`;
  const place = () => pick(random, [0, 1] as const);

  function begin(kind: Kind): Promise<WaitingTurn> {
    const city = newCity(kind);
    switch (kind) {
      case 'slack':
        return slack.begin(at, city);
      case 'a2a':
        return beginByA2A(at, city);
      case 'mcp':
        return beginByMcp(at, city);
      case 'openai':
        return Promise.resolve(beginByOpenAI(at, city));
      case 'ag-ui':
        return beginByAgUi(at, city);
      default:
        return Promise.resolve(beginTurn(at, kind, city, { place: place() }));
    }
  }

  /** Until it has been asked: a user whose message got lost writes another one. */
  async function start(kind: Kind): Promise<void> {
    const turn = await repeatedly(async () => {
      const begun = await begin(kind);
      await isAsked(begun);
      return begun;
    });
    all.push({ turn });
    note(`${turn.city} waits`);
  }

  /** Sent again until there is a definite word: as people do, and programs. */
  async function answer({ turn, act }: Begun): Promise<Reply> {
    const action = act === 'decline' ? 'decline' : 'accept';
    const reply = await repeatedly(async () => {
      const now = await turn.answer(place(), action);
      if (now.status >= 500 || now.status === 429) throw new Error(`${turn.city} was answered ${now.status}`);
      return now;
    });
    note(`${turn.city}, ${action}: ${reply.status}`);
    return reply;
  }

  /** Another message in its conversation, which asks for something else. */
  async function supersede({ turn: before }: Begun): Promise<Reply> {
    const { conversationId } = (before as ChatTurn).turn.message;
    const kind = pick(random, newChatKinds);
    const turn = await repeatedly(async () => {
      const begun = beginTurn(at, kind, newCity(kind), { place: place(), conversationId });
      await isAsked(begun);
      return begun;
    });
    note(`${before.city} superseded by ${turn.city}`);
    all.push({ turn });
    return { status: 200, body: {} };
  }

  function act(begun: Begun): void {
    const isChat = chatTurn(begun.turn) !== undefined;
    // One account settles the questions of all turns that wait for it.
    const canRefuse = begun.turn.kind !== 'account' && begun.turn.kind !== 'a2a';
    const chance = random();
    begun.act =
      canRefuse && chance < 0.15 ? 'decline' : canRefuse && isChat && chance < 0.3 ? 'supersede' : 'accept';
    begun.receipt = begun.act === 'supersede' ? supersede(begun) : answer(begun);
    begun.receipt.catch(() => undefined);
  }

  function work(left: number): void {
    const open = shuffled(
      random,
      all.filter(({ receipt }) => receipt === undefined),
    );
    const some = Math.ceil(open.length / (left + 2));
    for (const begun of open.slice(0, some)) act(begun);
    // Others come back to read on.
    for (const { turn } of open.slice(some, some + 2)) chatTurn(turn)?.rejoin(place());
    const starting = start(pick(random, newKinds));
    starting.catch(() => undefined);
    beginning.push(starting);
  }

  async function carryOutStep({ faults, workAfterMs }: Step, left: number): Promise<void> {
    note(`▶ ${faults.map(toWords).join(' + ')}`);
    const meanwhile = sleep(workAfterMs).then(() => work(left));
    await Promise.all([meanwhile, ...faults.map((fault) => carryOut(fault, at, fleet, releases))]);
    note(`◀ ${faults.map(({ kind }) => kind).join(' + ')}`);
  }

  return async () => {
    await slack.link(at);
    const first = Array.from({ length: count }, (_, index) => kinds[index % kinds.length] ?? 'round');
    await Promise.all(first.map(start));
    note(`${count} turns wait`);
    const plan = planOf(seed, options);
    for (const [index, step] of plan.entries()) await carryOutStep(step, plan.length - index - 1);
    await fleet.allReady();
    note('everything runs');
    await Promise.all(beginning);
    // Those that superseded others are among them.
    await Promise.allSettled(
      all.flatMap(({ act: done, receipt }) => (done === 'supersede' && receipt ? receipt : [])),
    );
    for (const begun of all) begun.receipt ??= answer(begun);
    const looks = await Promise.all(
      all.map(async (begun) => {
        const look = await lookAt(at, begun, cutsServersOff(plan));
        note(`${begun.turn.city} ended: ${Object.keys(look).join(', ') || 'as it should'}`);
        return look;
      }),
    );
    await fleet.stop();
    const failed = (what: keyof Look) => looks.flatMap((look) => look[what] ?? []);
    const acted = (what: Act) => all.filter(({ act: done = 'accept' }) => done === what).length;
    return {
      seed,
      sequence: plan.map(({ faults }) => faults.map(toWords).join(' + ')).join('; '),
      turns: all.length,
      acts: { accepted: acted('accept'), declined: acted('decline'), superseded: acted('supersede') },
      violations: {
        /** Did not end as they should have. */
        lost: failed('lost'),
        /** Deeds that were done more than once. */
        'done twice': failed('twice'),
        /** Answers that took effect although they were refused, or did not although they were taken. */
        'false receipts': failed('falseReceipt'),
        /** Processes that were not ready although everything that they need was there. */
        'not ready again': fleet.notReady,
      },
      /** Turns whose model was correctly told that the outcome is unknown. */
      unknown: failed('unknown').length,
      /** Turns that said that a server or the model was away, and did nothing. */
      away: failed('away').length,
      /** Processes that ended by themselves. */
      ended: fleet.ended(),
      seconds: Math.round((Date.now() - startedAt) / 1000),
      timeLine,
      log: at.log(),
    };
  };
}

/** Longer than all faults of a run together. */
async function isAsked(turn: WaitingTurn): Promise<void> {
  const late = sleep(2 * triesForMs, undefined, { ref: false }).then(() => {
    throw new Error(`${turn.city} asks nothing`);
  });
  await Promise.race([turn.asked(), late]);
}

const newChatKinds: ChatKind[] = chatKinds.filter((kind) => kind !== 'account');

function chatTurn(turn: WaitingTurn): ChatTurn | undefined {
  return 'rejoin' in turn ? (turn as ChatTurn) : undefined;
}

async function repeatedly<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + triesForMs; ; await sleep(500)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

type Look = Partial<Record<'lost' | 'twice' | 'falseReceipt' | 'unknown' | 'away', string>>;

/** Whether a turn may say that a server could not be reached. */
function cutsServersOff(plan: Step[]): boolean {
  const kinds: Fault['kind'][] = ['servers away', 'model away', 'cut connections', 'freeze', 'kill'];
  return plan.some(({ faults }) => faults.some(({ kind }) => kinds.includes(kind)));
}

async function lookAt(
  at: Installation,
  { turn, act = 'accept', receipt }: Begun,
  mayBeAway: boolean,
): Promise<Look> {
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
  const words = `${city}, ${act}: told ${told?.status} ${JSON.stringify(told?.body)}, ended ${JSON.stringify(ended)}`;
  const isTaken = told !== undefined && told.status >= 200 && told.status < 300;
  const wanted = completed(turn);
  const isOver = ended.status === 'completed' || ended.status === 'failed';
  const isUnknown = isOver && /unknown|cannot tell whether/.test(ended.said);
  // Servers that are refused are called with the refusal, and book for no nights.
  const refused = ended.done.filter((deed) => deed.endsWith(' for none'));
  const isNothingDone = isOver && refused.length === ended.done.length;
  // A server that was gone for too long takes its question with it.
  const isWithdrawn = isNothingDone && ended.questions[0] === 'cancel' && (act === 'supersede' || !isTaken);
  const isAway =
    mayBeAway &&
    (isWithdrawn ||
      (isNothingDone && /cannot be reached|broke the connection|fetch failed/.test(ended.said)));
  // Its server declares that twice is as good as once.
  const mostDeeds = kind === 'held' ? 2 : 1;
  const common: Look = {
    ...(ended.done.length > mostDeeds && { twice: words }),
    ...(isUnknown && { unknown: words }),
    ...(isAway && { away: words }),
  };
  if (isUnknown || isAway) return common;
  if (act !== 'accept') {
    const end = act === 'decline' ? 'completed' : 'cancelled';
    return {
      ...common,
      ...((!isTaken || ended.status !== end) && { lost: words }),
      ...(refused.length < ended.done.length && { falseReceipt: words }),
    };
  }
  const isDone = ended.status === 'completed' && ended.said === wanted.said && ended.done.length > 0;
  return {
    ...common,
    ...(isTaken && !isDone && { lost: words }),
    ...(isTaken && ended.questions[0] !== 'accept' && { falseReceipt: words }),
    ...(!isTaken && ended.done.length > 0 && { falseReceipt: words }),
    // Nothing in these runs closes a question: a refused answer is one that was lost.
    ...(!isTaken && ended.done.length === 0 && { lost: words }),
  };
}

const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1).padStart(7)} s`;
