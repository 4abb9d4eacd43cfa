/** The results of chaos runs as a table. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { ChaosResult } from './chaos-run.ts';

const root = path.resolve(import.meta.dirname, '../..');

const head = [
  '| seed | what happened | turns | accepted, declined, superseded | lost | done twice | false receipts | not ready again | outcome unknown, and said so | server away, and said so | processes that ended | took |',
  '|---|---|---|---|---|---|---|---|---|---|---|---|',
];

function toRow({
  seed,
  sequence,
  turns,
  acts,
  violations,
  unknown,
  away,
  ended,
  seconds,
}: ChaosResult): string {
  const found = Object.values(violations).map((list) => list.length);
  const cells = [seed, sequence, turns, Object.values(acts).join(', '), ...found, unknown, away, ended];
  return `| ${cells.join(' | ')} | ${seconds} s |`;
}

export const violationsIn = ({ violations }: ChaosResult): string[] =>
  Object.entries(violations).flatMap(([what, list]) => list.map((words) => `${what}: ${words}`));

/** With what is needed to find out why. */
export function problemsOf(result: ChaosResult): string {
  const { seed, timeLine, log } = result;
  return [`seed ${seed}`, ...violationsIn(result), 'time line:', ...timeLine, 'log:', log].join('\n');
}

/** One line for each run. */
export function sayInBrief(result: ChaosResult): string {
  const { seed, turns, seconds, sequence } = result;
  const found = violationsIn(result).length;
  const verdict =
    found === 0 ? 'no violation' : `${found} violations; repeat it: npm run chaos -- --seed ${seed} --runs 1`;
  return `seed ${seed}: ${turns} turns in ${seconds} s, ${verdict} (${sequence})`;
}

/** To build/chaos-report.md. After each run, so that those that were made count when the rest is cut off. */
export function writeReport(results: ChaosResult[]): void {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const day = new Date().toISOString().slice(0, 10);
  const title = `## ${day}, commit ${commit.trim()}, ${availableParallelism()} cores`;
  const found = results.flatMap((result) =>
    violationsIn(result).map((words) => `- seed ${result.seed}, ${words}`),
  );
  const text = [title, '', ...head, ...results.map(toRow), '', ...found].join('\n');
  mkdirSync(path.join(root, 'build'), { recursive: true });
  writeFileSync(path.join(root, 'build/chaos-report.md'), `${text.trimEnd()}\n`);
}
