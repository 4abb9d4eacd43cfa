/** What `npm run scale` measures and writes to `bench/scale/results.json`, which `bench/simulate.ts` reads. */
import { readFile, writeFile } from 'node:fs/promises';

/** Of each operation. */
export interface Work {
  ms: number;
  /** Pages of the database that were looked at, in memory or not. */
  pages: number;
  /** Rows that were read without an index. */
  scannedRows: number;
  walBytes: number;
}

export interface Events {
  events: number;
  /** With its indexes. */
  bytesOfEvent: number;
  append: Work;
  follow: Work & { p50Ms: number; p95Ms: number };
  deleteTurn: Work;
  deleteTurnWhileAppending: Work;
}

/** Turns that waited at once, each for one question. */
export interface Waiting {
  turns: number;
  /** Of each, while it waits. */
  workerKib: number;
  apiKib: number;
  /** Processor time of each, in milliseconds: until it waited, and from its answer to its end. */
  askCpuMs: number;
  answerCpuMs: number;
  statements: number;
  commits: number;
  databaseKib: number;
  walKib: number;
  temporalKib: number;
  temporalCpuMs: number;
  /** Of all processes, for a second in which nothing happens. */
  idleCpuMs: number;
  idleStatements: number;
  firstAnswerMs: number;
  lastAnswerMs: number;
  /** From the first answer until every turn has ended. */
  burstSeconds: number;
  startSeconds: number;
  calls: number;
}

/** Of one turn with a question. */
export interface Turn {
  historyEvents: number;
  historyKib: number;
  /** Of workflow and activities: each takes a token of its shard's rate. */
  tasks: number;
}

export interface Results {
  date: string;
  turn?: Turn;
  events: Events[];
  waiting: Waiting[];
}

const file = new URL('results.json', import.meta.url);

export async function readResults(): Promise<Results> {
  const text = await readFile(file, 'utf8').catch(() => '{"date":"","events":[],"waiting":[]}');
  return JSON.parse(text) as Results;
}

/** Replaces what was measured at the same size before. */
export async function keepResults(change: (before: Results) => Partial<Results>): Promise<void> {
  const before = await readResults();
  const results = { ...before, ...change(before), date: new Date().toISOString().slice(0, 10) };
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(3)) : value;
  await writeFile(file, `${JSON.stringify(results, rounded, 2)}\n`);
}
