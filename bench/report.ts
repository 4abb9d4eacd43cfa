/** What was measured, and how it is printed: ours against a floor of the same run. No number fails. */

export interface Row {
  name: string;
  /** One line: what was measured, against what. */
  meaning: string;
  ours: number[];
  /** Absent where nothing comparable exists. */
  floor?: number[];
  unit:
    | 'shift'
    | 'ms'
    | 'µs'
    | 'KiB'
    | 'events'
    | 'reads'
    | 'statements'
    | 'commits'
    | 'answers'
    | 'turns'
    | '/s';
}

export interface Section {
  title: string;
  rows: Row[];
  aims?: Aim[];
}

type Aim = {
  name: string;
  value: number;
  /** How the limit came about. */
  because: string;
} & ({ atMost: number } | { atLeast: number });

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const median = (values: number[]) => percentile(values, 0.5);

const nameWidth = 40;
const columns = ['p50', 'p95', 'p50', 'p95', 'p50', 'p95'];

export function print({ title, rows, aims = [] }: Section): void {
  const lines = [
    '',
    title,
    ' '.repeat(nameWidth) + ['ours', 'floor', 'ours ÷ floor'].map((name) => name.padStart(18)).join(''),
    ' '.repeat(nameWidth) + columns.map((name) => name.padStart(9)).join(''),
    '─'.repeat(nameWidth + 9 * columns.length),
    ...rows.flatMap((row) => [line(row), `    ${row.meaning}`]),
    ...aims.map(verdict),
  ];
  console.log(lines.join('\n'));
}

function line({ name, ours, floor, unit }: Row): string {
  const cells = [0.5, 0.95].map((share) => number(percentile(ours, share)));
  const floors = [0.5, 0.95].map((share) => (floor ? number(percentile(floor, share)) : '–'));
  const ratios = [0.5, 0.95].map((share) =>
    floor ? `×${(percentile(ours, share) / percentile(floor, share)).toFixed(2)}` : '–',
  );
  const label = `  ${name} (${unit})`.padEnd(nameWidth);
  return label + [...cells, ...floors, ...ratios].map((cell) => cell.padStart(9)).join('');
}

function verdict(aim: Aim): string {
  const { name, value, because } = aim;
  const isReached = 'atMost' in aim ? value <= aim.atMost : value >= aim.atLeast;
  const limit = 'atMost' in aim ? `at most ${number(aim.atMost)}` : `at least ${number(aim.atLeast)}`;
  return `  ${isReached ? '✓ reached' : '✗ missed'}: ${name} ${number(value)}, aim ${limit} (${because})`;
}

function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 1 ? 1 : 2);
}
