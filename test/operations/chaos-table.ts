/** The results of chaos runs as a table. */
import type { ChaosResult } from './chaos-run.ts';

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
