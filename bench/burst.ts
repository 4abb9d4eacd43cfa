/** Very many people answer at the same moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eachOf } from './each-of.ts';
import { tenant } from './doubles/issuer.ts';
import { say } from './doubles/model.ts';
import { percentile } from './report.ts';
import type { Row, Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { User } from './user.ts';

/** Long enough for the ended turns of a burst to be merged. */
const mergingMs = 500;

/** What became of one burst; all times in milliseconds from its beginning. */
interface Burst {
  statuses: number[];
  /** How often an answer got 503, and was sent again. */
  repeats: number;
  acknowledgedMs: number[];
  resumedMs: number[];
  /** Questions that their workflow settled as they were answered. */
  tookEffect: number;
  /** Of all processes of the service, for each turn, from its answer to its end. */
  each: Work;
}

interface Work {
  /** Processor time, in milliseconds. */
  cpu: number;
  statements: number;
  commits: number;
}

export async function burst(setup: BenchSetup): Promise<Section> {
  const counts = setup.samples < 30 ? [200] : [200, 500];
  const sections = [];
  for (const count of counts) sections.push(await compare(setup, count));
  return {
    title: 'Everybody answers at once',
    rows: sections.flatMap(({ rows }) => rows),
    aims: sections.flatMap(({ aims }) => aims),
  };
}

async function compare(setup: BenchSetup, count: number) {
  const bare = await setup.floor.burst({ count });
  await breath();
  const ours = await answerAtOnce(setup, count);
  const row = (name: string, meaning: string, unit: Row['unit'], own: number, floor?: number): Row => ({
    name: `${count} answers: ${name}`,
    meaning,
    ours: [own],
    ...(floor !== undefined && { floor: [floor] }),
    unit,
  });
  const resumed = rate(ours.resumedMs);
  const bareResumed = rate(bare.actedMs);
  const last = (times: number[]) => percentile(times, 1);
  return {
    rows: [
      row(
        'acknowledged',
        'POSTs of `accept` answered, counted until the last one is, against bare signals (more is better)',
        '/s',
        rate(ours.acknowledgedMs),
        rate(bare.acknowledgedMs),
      ),
      row(
        'answered 200',
        'all of them: a receipt is final',
        'answers',
        ours.statuses.filter((status) => status === 200).length,
      ),
      row(
        'answered 503 before',
        'answers that were refused for a moment, and sent again',
        'answers',
        ours.repeats,
      ),
      row('took effect', 'all of them, or something is lost', 'answers', ours.tookEffect),
      row(
        'resumed',
        'tool calls that arrive at their server, counted until the last one does, against activities that begin (more is better)',
        '/s',
        resumed,
        bareResumed,
      ),
      row('half resumed', 'until half of them have', 'ms', ...halves(ours.resumedMs, bare.actedMs)),
      row('last resumed', 'until the last one has', 'ms', last(ours.resumedMs), last(bare.actedMs)),
      row(
        'processor time of each',
        'of all our processes, from the answer to the end of the turn, against the floor for signal, activity and end; depends far less on other work than rates do',
        'ms',
        ours.each.cpu,
        bare.cpu / count,
      ),
      row(
        'statements of each',
        'in the database, without those around transactions',
        'statements',
        ours.each.statements,
      ),
      row('commits of each', 'those who write at the same time share one', 'commits', ours.each.commits),
    ],
    aims: [
      {
        name: `${count} answers: acknowledged`,
        value: rate(ours.acknowledgedMs),
        atLeast: 400,
        because: 'per second',
      },
      { name: `${count} answers: took effect`, value: ours.tookEffect, atLeast: count, because: 'all' },
      {
        name: `${count} answers: resumed`,
        value: resumed,
        atLeast: 0.6 * bareResumed,
        because: '0.6 × the bare loop',
      },
      { name: `${count} answers: processor time of each`, value: ours.each.cpu, atMost: 15, because: 'ms' },
    ],
  };
}

async function answerAtOnce(setup: BenchSetup, count: number): Promise<Burst> {
  const { service, dependencies, newUser } = setup;
  const waiting: { user: User; conversation: string; question: string }[] = [];
  await eachOf(count, 10, async () => {
    const user = await newUser();
    const chat = await user.chat(say.callTool);
    await chat.leave();
    if (chat.question === null) throw new Error('a turn asked nothing');
    waiting.push({ user, conversation: chat.conversation, question: chat.question });
  });
  const resumedAt: number[] = [];
  for (const { user } of waiting) void dependencies.mcp.arrival(user.name).then((at) => resumedAt.push(at));
  await service.connectAccounts(waiting.map(({ user }) => user.name));
  const before = await workSoFar(service);
  const answeredAt = performance.now();
  const answers = await Promise.all(
    waiting.map(async ({ user, ...question }) => {
      const { status, repeats } = await user.accept(question);
      return { status, repeats, at: performance.now() - answeredAt };
    }),
  );
  // Each ends, whether or not it called its tool; and the outcome may be written beside the call.
  for (const { conversation } of waiting)
    while (await service.storage.turns.live({ tenant, conversation })) await sleep(50);
  // Their logs are merged afterwards.
  await sleep(mergingMs);
  const after = await workSoFar(service);
  const rows = await Promise.all(waiting.map(({ question }) => service.storage.elicitations.get(question)));
  return {
    statuses: answers.map(({ status }) => status),
    acknowledgedMs: answers.map(({ at }) => at),
    repeats: answers.reduce((sum, { repeats }) => sum + repeats, 0),
    resumedMs: resumedAt.map((at) => at - answeredAt),
    tookEffect: rows.filter((row) => row?.status === 'accept').length,
    each: {
      cpu: (after.cpu - before.cpu) / count,
      statements: (after.statements - before.statements) / count,
      commits: (after.commits - before.commits) / count,
    },
  };
}

async function workSoFar(service: BenchSetup['service']): Promise<Work> {
  const cpu = await service.insideAll('cpu');
  const statements = await service.insideAll('statements');
  const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);
  return {
    cpu: sum(cpu),
    statements: sum(statements.map(({ all }) => all)),
    commits: sum(statements.map(({ commits }) => commits)),
  };
}

/** Per second, from the beginning to the last one. */
const rate = (times: number[]) => times.length / (percentile(times, 1) / 1000);

const halves = (ours: number[], bare: number[]) => [percentile(ours, 0.5), percentile(bare, 0.5)] as const;
