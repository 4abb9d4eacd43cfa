/**
 * What 1, 10 and 100 million turns a day need, from the costs that `npm run scale` measured: `node bench/simulate.ts`
 * prints the table of docs/scaling.md. Every turn has one question. The same numbers always give the same table.
 */
import { readResults } from './scale/results.ts';
import type { Results } from './scale/results.ts';

const sizes = [1, 10, 100];
const daySeconds = 24 * 60 * 60;
/** The busiest second, against the average of the day. */
const peak = 3;
const jobs = 20_000;
/** 95 of 100 stages of a turn may wait this long for a core. */
const longestQueueMs = 50;
/** Fuller cores have queues that grow for longer than is simulated. */
const fullest = 0.8;
const keptDays = 30;
/** Of a Temporal server, per shard and second, unless `history.transferProcessorMaxPollRPS` is raised. */
const tasksOfShard = 20;
const gib = 1024 * 1024;

export function scalingTable({ turn, waiting }: Results): string {
  const largest = waiting.toSorted((one, other) => other.turns - one.turns)[0];
  if (!turn || !largest) throw new Error('npm run scale -- --waiting 1000 has not been run');
  const columns = sizes.map((millions) => {
    const rate = (millions * 1_000_000 * peak) / daySeconds;
    const stages = [largest.askCpuMs, largest.answerCpuMs];
    const cores = coresFor(rate, stages);
    return [
      round(rate),
      `${cores} (${Math.round((rate * (sum(stages) / 1000) * 100) / cores)} % busy)`,
      round(rate * largest.commits),
      round(rate * largest.statements),
      `${round((rate * largest.walKib) / 1024)} MiB`,
      `${round((millions * 1_000_000 * largest.databaseKib) / gib)} GiB`,
      `${round((millions * 1_000_000 * largest.databaseKib * keptDays) / gib)} GiB`,
      round(rate * turn.historyEvents),
      round(rate * turn.tasks),
      round(Math.ceil((rate * turn.tasks) / tasksOfShard)),
      `${round((millions * 1_000_000 * turn.historyKib) / gib)} GiB`,
    ];
  });
  const names = [
    'turns a second, at the peak',
    'cores for APIs and workers',
    'PostgreSQL: commits a second',
    'PostgreSQL: statements a second',
    'PostgreSQL: WAL a second',
    'PostgreSQL: rows of a day',
    `PostgreSQL: rows of ${keptDays} days`,
    'Temporal: events a second',
    'Temporal: tasks a second',
    `Temporal: shards at ${tasksOfShard} tasks a second`,
    'Temporal: histories of a day',
  ];
  const lines = names.map((name, row) => `| ${name} | ${columns.map((column) => column[row]).join(' | ')} |`);
  return [
    `| million turns a day | ${sizes.join(' | ')} |`,
    `|---|${sizes.map(() => '---|').join('')}`,
    ...lines,
  ].join('\n');
}

/** The fewest cores on which the stages of turns wait no longer than they may: doubled until enough, then halved between. */
function coresFor(rate: number, stages: number[]): number {
  const isEnough = (cores: number) => queueMs(rate, stages, cores) <= longestQueueMs;
  let enough = Math.ceil((rate * sum(stages)) / 1000 / fullest);
  let few = enough - 1;
  while (!isEnough(enough)) [few, enough] = [enough, enough * 2];
  while (enough - few > 1) {
    const middle = Math.floor((few + enough) / 2);
    if (isEnough(middle)) enough = middle;
    else few = middle;
  }
  return enough;
}

/**
 * Turns arrive at random. Each stage, a question and its answer, comes by itself, because a person's pause lies between them,
 * and takes a core for a time that varies as much as it lasts. Returns how long 95 of 100 wait for a core at most.
 */
function queueMs(rate: number, stages: number[], cores: number): number {
  const random = createRandom();
  const exponential = (mean: number) => -mean * Math.log(1 - random());
  const freeAt = Array.from({ length: cores }, () => 0);
  const waits: number[] = [];
  let at = 0;
  for (let job = 0; job < jobs; job++) {
    at += exponential(1000 / (rate * stages.length));
    let first = 0;
    for (let core = 1; core < cores; core++) if ((freeAt[core] ?? 0) < (freeAt[first] ?? 0)) first = core;
    const begins = Math.max(at, freeAt[first] ?? 0);
    freeAt[first] = begins + exponential(stages[Math.floor(random() * stages.length)] ?? 0);
    waits.push(begins - at);
  }
  return waits.toSorted((one, other) => one - other)[Math.floor(0.95 * jobs)] ?? 0;
}

/** Always the same numbers. */
function createRandom(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Of the larger size against ten times fewer, for each turn or operation: 1 is constant. */
export function growthTable({ events, waiting }: Results): string {
  const [few, many] = tenthAndLargest(events, (one) => one.events);
  const [some, most] = tenthAndLargest(waiting, (one) => one.turns);
  const rows: string[] = [];
  const add = (name: string, unit: string, less?: number, more?: number) => {
    if (less === undefined || more === undefined) return;
    const [one, ten] = [less, more].map((value) => `${round(value)} ${unit}`.trim());
    rows.push(`| ${name} | ${one} | ${ten} | ${(more / less).toFixed(2)} |`);
  };
  const ofEvents = `${million(few?.events)} → ${million(many?.events)} million events`;
  add(`${ofEvents}: pages of an append`, '', few?.append.pages, many?.append.pages);
  add('… WAL', 'bytes', few?.append.walBytes, many?.append.walBytes);
  add('pages of an append with its reader', '', few?.follow.pages, many?.follow.pages);
  add('pages of deleting a turn', '', few?.deleteTurn.pages, many?.deleteTurn.pages);
  add('… rows read without an index', '', few?.deleteTurn.scannedRows, many?.deleteTurn.scannedRows);
  add('an event with its indexes', 'bytes', few?.bytesOfEvent, many?.bytesOfEvent);
  const ofTurns = `${some?.turns} → ${most?.turns} waiting turns`;
  add(`${ofTurns}: processor time until it waits`, 'ms', some?.askCpuMs, most?.askCpuMs);
  add('… from its answer to its end', 'ms', some?.answerCpuMs, most?.answerCpuMs);
  add('… of the Temporal development server', 'ms', some?.temporalCpuMs, most?.temporalCpuMs);
  add('statements', '', some?.statements, most?.statements);
  add('commits', '', some?.commits, most?.commits);
  add('WAL', 'KiB', some?.walKib, most?.walKib);
  add('rows', 'KiB', some?.databaseKib, most?.databaseKib);
  add('while all wait: statements a second', '', some?.idleStatements, most?.idleStatements);
  add('… processor time a second', 'ms', some?.idleCpuMs, most?.idleCpuMs);
  return ['| | less | ten times as much | ratio |', '|---|---|---|---|', ...rows].join('\n');
}

function tenthAndLargest<Size>(
  all: Size[],
  sizeOf: (one: Size) => number,
): [Size | undefined, Size | undefined] {
  const largest = all.toSorted((one, other) => sizeOf(one) - sizeOf(other)).at(-1);
  return [largest && all.find((one) => sizeOf(one) * 10 === sizeOf(largest)), largest];
}

const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);
const million = (events = NaN) => events / 1_000_000;
const round = (value: number) => String(Number(value.toPrecision(value >= 100 ? 3 : 2)));

if (import.meta.main) {
  const results = await readResults();
  console.log(`${scalingTable(results)}\n\n${growthTable(results)}`);
}
